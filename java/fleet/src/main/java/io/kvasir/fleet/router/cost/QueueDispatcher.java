package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Places requests as they arrive, or queues them until there is room. Guarded by the lock. */
final class QueueDispatcher {

  private static final Logger LOG = LoggerFactory.getLogger(QueueDispatcher.class);

  private final QueueOptions options;
  private final RankChooser chooser;
  private final RequestQueue queue;

  QueueDispatcher(QueueOptions options, RankChooser chooser, RequestQueue queue) {
    this.options = options;
    this.chooser = chooser;
    this.queue = queue;
  }

  /**
   * Places, refuses or queues a request. O(blocks + ranks).
   *
   * @param completions receives the outcome, unless the request waits
   * @return the queued request, or null
   */
  @Nullable WaitingRequest place(
      MatchedRequest matched,
      long nowNs,
      CompletableFuture<RouteOutcome> future,
      List<RouteCompletion> completions) {
    Refusal refusal =
        queue.contains(matched.request().id())
            ? Refusal.DUPLICATE_REQUEST
            : chooser.consider(matched);
    if (refusal == null && !chooser.anyConsideredHasRoom()) {
      refusal = queue.full();
      if (refusal == null) {
        return queue.join(matched, chooser.uncachedTokens(matched.request()), nowNs, future);
      }
    }
    RouteOutcome outcome =
        refusal == null
            ? new RouteOutcome.Placed(chooser.book(matched, 0))
            : new RouteOutcome.Refused(refusal);
    completions.add(new RouteCompletion(matched, future, outcome));
    return null;
  }

  /**
   * Places all waiting requests for which there is room. O(ranks) if there is none; each placement
   * takes O(blocks + ranks), and O(ranks) for each request before it that has a filter.
   *
   * @param fresh a request whose matches count as fresh whatever their age; may be null
   * @param completions receives the outcomes
   * @return a request whose matches must be refreshed before it is placed; null if there is none
   */
  @Nullable WaitingRequest serve(
      @Nullable WaitingRequest fresh, long nowNs, List<RouteCompletion> completions) {
    for (WaitingRequest next = servable(); next != null; next = servable()) {
      if (!next.equals(fresh) && next.isStale(nowNs, options.matchRefreshAfterNs())) {
        return next;
      }
      queue.leave(next);
      completions.add(new RouteCompletion(next.matched(), next.future(), dispatch(next, nowNs)));
    }
    return null;
  }

  private @Nullable WaitingRequest servable() {
    if (queue.isEmpty()) {
      return null;
    }
    chooser.readLoads();
    if (!chooser.anyRoom()) {
      return null;
    }
    return queue.first(waiting -> waiting.filter().isAny() || chooser.hasRoom(waiting.filter()));
  }

  private RouteOutcome dispatch(WaitingRequest waiting, long nowNs) {
    MatchedRequest matched = waiting.matched();
    try {
      Refusal refusal = chooser.consider(matched);
      return refusal == null
          ? new RouteOutcome.Placed(chooser.book(matched, nowNs - waiting.arrivedNs()))
          : new RouteOutcome.Refused(refusal);
    } catch (RuntimeException failure) {
      LOG.error("The selector failed for the waiting {}", matched.request(), failure);
      return new RouteOutcome.Refused(Refusal.SELECTOR_FAILED);
    }
  }

  /** Refuses all waiting requests that no rank may serve any more. O(requests x ranks). */
  void refuseUnservable(List<RouteCompletion> completions) {
    chooser.readLoads();
    for (WaitingRequest waiting : queue.all()) {
      Refusal refusal = chooser.unservable(waiting.filter());
      if (refusal != null) {
        queue.leave(waiting);
        completions.add(
            new RouteCompletion(
                waiting.matched(), waiting.future(), new RouteOutcome.Refused(refusal)));
      }
    }
  }
}
