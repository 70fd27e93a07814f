package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.Refusal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Dispatches requests as they come, or lets them wait until there is room. Guarded by the lock. */
final class QueueDispatcher {

  private static final Logger LOG = LoggerFactory.getLogger(QueueDispatcher.class);

  private final QueueOptions options;
  private final RankChooser chooser;
  private final SchedulerQueue line;

  QueueDispatcher(QueueOptions options, RankChooser chooser, SchedulerQueue line) {
    this.options = options;
    this.chooser = chooser;
    this.line = line;
  }

  /**
   * Dispatches, refuses or takes in a request. O(blocks + ranks).
   *
   * @param settled takes the outcome, if there is one
   * @return who waits now, or null
   */
  WaitingRequest place(
      SelectionRequest request,
      RankMatches matches,
      long nowNs,
      CompletableFuture<SelectionOutcome> future,
      List<SettledOutcome> settled) {
    Refusal refusal =
        line.contains(request.requestId())
            ? Refusal.DUPLICATE_REQUEST
            : chooser.consider(request, matches);
    if (refusal == null && !chooser.anyConsideredHasRoom()) {
      refusal = line.full();
      if (refusal == null) {
        return line.join(request, matches, chooser.uncachedTokens(request), nowNs, future);
      }
    }
    settled.add(
        new SettledOutcome(
            future,
            refusal == null
                ? new SelectionOutcome.Dispatched(chooser.book(request, 0))
                : new SelectionOutcome.Refused(request, refusal)));
    return null;
  }

  /**
   * Dispatches all waiting requests for which there is room. O(ranks) if there is none; each
   * dispatch takes O(blocks + ranks), and O(ranks) for each request before it that may not go just
   * anywhere.
   *
   * @param fresh who is served whatever the age of its matches; may be null
   * @param settled takes the outcomes
   * @return who must be matched anew before it can go on; null if nobody
   */
  WaitingRequest serve(WaitingRequest fresh, long nowNs, List<SettledOutcome> settled) {
    for (WaitingRequest next = servable(); next != null; next = servable()) {
      if (!next.equals(fresh) && next.isStale(nowNs, options.overlapRefreshAfterNs())) {
        return next;
      }
      line.leave(next);
      settled.add(new SettledOutcome(next.future(), dispatch(next, nowNs)));
    }
    return null;
  }

  private WaitingRequest servable() {
    if (line.isEmpty()) {
      return null;
    }
    chooser.readLoads();
    if (!chooser.anyRoom()) {
      return null;
    }
    return line.first(waiting -> waiting.filter().isAny() || chooser.hasRoom(waiting.filter()));
  }

  private SelectionOutcome dispatch(WaitingRequest waiting, long nowNs) {
    SelectionRequest request = waiting.request();
    try {
      Refusal refusal = chooser.consider(request, waiting.matches());
      return refusal == null
          ? new SelectionOutcome.Dispatched(chooser.book(request, nowNs - waiting.arrivedNs()))
          : new SelectionOutcome.Refused(request, refusal);
    } catch (RuntimeException failure) {
      LOG.error("No rank could be chosen for the waiting {}", request, failure);
      return new SelectionOutcome.Refused(request, Refusal.SELECTOR_FAILED);
    }
  }

  /** Refuses all waiting requests that no rank may serve any more. O(requests x ranks). */
  void refuseUnservable(List<SettledOutcome> settled) {
    chooser.readLoads();
    WaitingRequest stranded = stranded();
    while (stranded != null) {
      line.leave(stranded);
      Refusal refusal = chooser.unservable(stranded.filter());
      settled.add(
          new SettledOutcome(
              stranded.future(), new SelectionOutcome.Refused(stranded.request(), refusal)));
      stranded = stranded();
    }
  }

  private WaitingRequest stranded() {
    return line.first(waiting -> chooser.unservable(waiting.filter()) != null);
  }
}
