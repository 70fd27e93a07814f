package io.kvasir.engine.execute;

import io.kvasir.engine.adp.RankWork;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All requests on a rank, at any stage. Keeps the index by id, the waiting and started requests and
 * the rank's ledger consistent.
 *
 * <p>Confined to the rank's executor thread.
 */
final class HeldRequests {

  private final Long2ObjectOpenHashMap<PlacedRequest> byId = new Long2ObjectOpenHashMap<>();
  private final StartedRequests started;
  private final Admission admission;
  private final SendingRequests sending;
  private final RankLedger ledger;

  HeldRequests(
      StartedRequests started, Admission admission, SendingRequests sending, RankLedger ledger) {
    this.started = started;
    this.admission = admission;
    this.sending = sending;
    this.ledger = ledger;
  }

  boolean contains(long requestId) {
    return byId.containsKey(requestId);
  }

  /** Whether no request waits or has started. */
  boolean isEmpty() {
    return started.isEmpty() && admission.isEmpty();
  }

  void add(PlacedRequest request) {
    byId.put(request.request.id(), request);
    ledger.add(request.promptTokens, request.request.sequences());
    admission.add(request);
  }

  /** The work left on the rank. O(requests). */
  RankWork work() {
    int prefills = 0;
    long tokens = 0;
    double pairs = 0;
    long decodeKvTokens = 0;
    for (int i = 0; i < started.size(); i++) {
      PlacedRequest request = started.get(i);
      if (request.decoding) {
        decodeKvTokens += request.length;
      } else {
        int left = request.length - request.computed;
        prefills++;
        tokens += left;
        pairs += RankWork.attendedPairs(request.computed, left);
      }
    }
    for (PlacedRequest request : admission.waiting()) {
      int left = request.length - Math.min(request.expectedTokens, request.length - 1);
      prefills++;
      tokens += left;
      pairs += RankWork.attendedPairs(request.length - left, left);
    }
    return new RankWork(prefills, tokens, pairs, started.decoding(), decodeKvTokens);
  }

  /**
   * The leading blocks of a prompt that requests on this rank are computing or will compute before
   * it. O(requests x log blocks).
   */
  int pendingBlocks(PlacedRequest candidate) {
    int most = 0;
    for (int i = 0; i < started.size(); i++) {
      if (!started.get(i).decoding) {
        most = Math.max(most, candidate.commonBlocks(started.get(i)));
      }
    }
    for (PlacedRequest request : admission.waiting()) {
      most = Math.max(most, candidate.commonBlocks(request));
    }
    return most;
  }

  /**
   * Removes a request and releases its blocks; null if it is not here. A failure of the pool leaves
   * the state unchanged.
   */
  @Nullable PlacedRequest remove(long requestId) {
    PlacedRequest request = byId.get(requestId);
    if (request == null) {
      return null;
    }
    if (request.sending) {
      admission.release(request);
      byId.remove(requestId);
      sending.abort(request);
      return request;
    }
    if (request.started()) {
      admission.release(request);
      started.remove(request);
    } else {
      admission.remove(request);
    }
    forget(request);
    return request;
  }

  /** Removes a request whose blocks have been released. */
  void forget(PlacedRequest request) {
    byId.remove(request.request.id());
    ledger.remove(request.promptTokens, request.cachedTokens, request.request.sequences());
  }

  /** Moves the end of a request's transfer; false if it is not in transfer. */
  boolean endTransferAt(long requestId, long endNs) {
    PlacedRequest request = byId.get(requestId);
    return request != null && sending.endAt(request, endNs);
  }

  /** Removes and returns the request whose transfer ends first. */
  PlacedRequest endTransfer() {
    PlacedRequest sent = sending.end();
    byId.remove(sent.request.id());
    return sent;
  }

  /**
   * Removes all requests without calling the pool, in arrival order. On a context rank they lose
   * their output, because their KV was not sent.
   */
  List<PlacedRequest> takeAll() {
    List<PlacedRequest> taken = new ArrayList<>(byId.values());
    taken.sort(Comparator.comparingLong(request -> request.arrival));
    for (PlacedRequest request : taken) {
      if (request.sending) {
        byId.remove(request.request.id());
        sending.abort(request);
      } else {
        forget(request);
      }
      if (sending.sends()) {
        request.forgetOutput();
      }
      request.leaveRank();
    }
    started.clear();
    admission.clear();
    return taken;
  }
}
