package io.kvasir.execute;

import io.kvasir.rank.RankLedger;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The requests that a rank holds, at whatever stage: found by id, lined up or started, and booked
 * in the rank's ledger, all at once.
 *
 * <p>Confined to the rank's executor thread.
 */
final class HeldRequests {

  private final Long2ObjectOpenHashMap<PlacedRequest> byId = new Long2ObjectOpenHashMap<>();
  private final StartedRequests started;
  private final Admission admission;
  private final RankLedger ledger;

  HeldRequests(StartedRequests started, Admission admission, RankLedger ledger) {
    this.started = started;
    this.admission = admission;
    this.ledger = ledger;
  }

  boolean contains(long requestId) {
    return byId.containsKey(requestId);
  }

  /** Whether nobody waits here and nobody has started. */
  boolean isEmpty() {
    return started.isEmpty() && admission.isEmpty();
  }

  void add(PlacedRequest request) {
    byId.put(request.request.id(), request);
    ledger.add(request.promptTokens, request.request.sequences());
    admission.add(request);
  }

  /**
   * Takes one out and returns its blocks; null if it is not here. A pool's failure changes nothing.
   */
  PlacedRequest remove(long requestId) {
    PlacedRequest request = byId.get(requestId);
    if (request == null) {
      return null;
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

  /** Takes out one that is done; its blocks have been returned. */
  void forget(PlacedRequest request) {
    byId.remove(request.request.id());
    ledger.remove(request.promptTokens, request.cachedTokens, request.request.sequences());
  }

  /** Takes all out without a call of the pool, in order of arrival. */
  List<PlacedRequest> takeAll() {
    List<PlacedRequest> taken = new ArrayList<>(byId.values());
    taken.sort(Comparator.comparingLong(request -> request.arrival));
    for (PlacedRequest request : taken) {
      forget(request);
      request.leaveRank();
    }
    started.clear();
    admission.clear();
    return taken;
  }
}
