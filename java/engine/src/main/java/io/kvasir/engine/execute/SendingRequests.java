package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The requests of a context rank that are computed and whose KV is being sent. They hold their
 * blocks until the transfer's end.
 *
 * <p>The step that computes a request's first token puts it here; when the end of that step is
 * known, its transfer is timed. The rank counts it as in transfer all the while. Processes that
 * only hear of the rank keep the same list, without blocks.
 *
 * <p>Confined to the thread that drives loop and rank. Putting in and taking out cost O(log size).
 */
final class SendingRequests implements AsyncTransfers.BlockOwner {

  static final long NEVER = Long.MAX_VALUE;

  private static final Comparator<PlacedRequest> END =
      Comparator.<PlacedRequest>comparingLong(request -> request.sentAtNs)
          .thenComparingLong(request -> request.arrival);

  private final KvTransfer link;
  private final AsyncTransfers transfers;
  private final List<PlacedRequest> computed = new ArrayList<>();
  private final PriorityQueue<PlacedRequest> timed = new PriorityQueue<>(END);

  /** The request that is being put in. */
  private PlacedRequest pinning;

  /** Leases of requests that were sent, until the rank releases them. */
  private int[] sentLeases = new int[8];

  private int sentCount;
  private int peak;

  /** {@code link} is null on a rank that sends nothing. */
  SendingRequests(KvTransfer link, RankLedger ledger) {
    this.link = link;
    this.transfers = new AsyncTransfers(ledger, this);
  }

  /** Whether requests that are computed are sent at all. */
  boolean sends() {
    return link != null;
  }

  boolean isEmpty() {
    return transfers.size() == 0;
  }

  /** Most requests that were in transfer at the same time. */
  int peak() {
    return peak;
  }

  /** A request is computed. */
  void add(PlacedRequest request) {
    pinning = request;
    transfers.start(request.request, request.cachedTokens);
    request.sending = true;
    computed.add(request);
    peak = Math.max(peak, transfers.size());
  }

  /** The step that computed the requests just put in ended: their transfers begin. */
  void start(long nowNs) {
    for (int i = 0; i < computed.size(); i++) {
      PlacedRequest request = computed.get(i);
      request.sentAtNs = nowNs + link.durationNs(request.promptTokens);
      timed.add(request);
    }
    computed.clear();
  }

  /** When the next transfer ends, or {@link #NEVER}. */
  long nextEndNs() {
    return timed.isEmpty() ? NEVER : timed.peek().sentAtNs;
  }

  /** Takes out the request whose transfer ends first; its lease is among {@link #sentLeases}. */
  PlacedRequest end() {
    PlacedRequest request = timed.remove();
    request.sending = false;
    transfers.end(request.request.id());
    return request;
  }

  /** Takes a request out whose transfer is broken off; its lease is the caller's to release. */
  void abort(PlacedRequest request) {
    if (!timed.remove(request)) {
      computed.remove(request);
    }
    request.sending = false;
    transfers.fail(request.request.id());
    transfers.end(request.request.id());
  }

  @Override
  public long pin(Request request) {
    return pinning.lease;
  }

  @Override
  public void release(Request request, long pinned, boolean failed) {
    if (!failed) {
      if (sentCount == sentLeases.length) {
        sentLeases = Arrays.copyOf(sentLeases, sentCount * 2);
      }
      sentLeases[sentCount++] = (int) pinned;
    }
  }

  /** Leases of the requests taken out since the last {@link #forgetSent}; {@link #sentCount}. */
  int[] sentLeases() {
    return sentLeases;
  }

  int sentCount() {
    return sentCount;
  }

  void forgetSent() {
    sentCount = 0;
  }
}
