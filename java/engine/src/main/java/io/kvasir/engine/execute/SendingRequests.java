package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a context rank whose KV is being sent. They keep their blocks until the end of
 * the transfer.
 *
 * <p>The step that computes a request's first token adds it. Its transfer starts when the end time
 * of that step is known. The rank counts the request as in transfer from the beginning. Other
 * processes of the worker keep the same list without blocks.
 *
 * <p>Confined to the thread that drives loop and rank. Adding and removing a request costs O(log
 * size).
 */
final class SendingRequests implements AsyncTransfers.BlockOwner {

  static final long NEVER = Long.MAX_VALUE;

  private static final Comparator<PlacedRequest> END =
      Comparator.<PlacedRequest>comparingLong(request -> request.sentAtNs)
          .thenComparingLong(request -> request.arrival);

  private final @Nullable KvTransfer link;
  private final AsyncTransfers transfers;
  private final List<PlacedRequest> computed = new ArrayList<>();
  private final PriorityQueue<PlacedRequest> timed = new PriorityQueue<>(END);

  /** The lease of the request that {@link #add} is adding. */
  private int addedLease;

  /** Leases of sent requests that the rank has not released yet. */
  private int[] sentLeases = new int[8];

  private int sentCount;
  private int peak;

  /** {@code link} is null on a rank that does not send KV. */
  SendingRequests(@Nullable KvTransfer link, RankLedger ledger) {
    this.link = link;
    this.transfers = new AsyncTransfers(ledger, this);
  }

  /** Whether this is a context rank, which sends KV. */
  boolean sends() {
    return link != null;
  }

  boolean isEmpty() {
    return transfers.size() == 0;
  }

  /** Peak number of requests in transfer at the same time. */
  int peak() {
    return peak;
  }

  /** Adds a computed request. */
  void add(PlacedRequest request) {
    addedLease = request.lease;
    transfers.start(request.request, request.cachedTokens);
    request.sending = true;
    computed.add(request);
    peak = Math.max(peak, transfers.size());
  }

  /** Starts the transfers of the requests added by the step that ended at {@code nowNs}. */
  void start(long nowNs) {
    if (link == null) {
      return;
    }
    for (int i = 0; i < computed.size(); i++) {
      PlacedRequest request = computed.get(i);
      request.sentAtNs = nowNs + link.durationNs(request.promptTokens);
      timed.add(request);
    }
    computed.clear();
  }

  /** Moves the end of a transfer that has started; false if it has not. O(transfers). */
  boolean endAt(PlacedRequest request, long endNs) {
    if (!timed.remove(request)) {
      return false;
    }
    request.sentAtNs = endNs;
    timed.add(request);
    return true;
  }

  /** The end of the next transfer, or {@link #NEVER}. */
  long nextEndNs() {
    return timed.isEmpty() ? NEVER : timed.peek().sentAtNs;
  }

  /** Removes the request whose transfer ends first; its lease is added to {@link #sentLeases}. */
  PlacedRequest end() {
    PlacedRequest request = timed.remove();
    request.sending = false;
    transfers.end(request.request.id());
    return request;
  }

  /** Removes a request and aborts its transfer; the caller releases its lease. */
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
    return addedLease;
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

  /**
   * Leases of the requests that {@link #end} removed since the last {@link #clearSent}; the first
   * {@link #sentCount} entries.
   */
  int[] sentLeases() {
    return sentLeases;
  }

  int sentCount() {
    return sentCount;
  }

  void clearSent() {
    sentCount = 0;
  }
}
