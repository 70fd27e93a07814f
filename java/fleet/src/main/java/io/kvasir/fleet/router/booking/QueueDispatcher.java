package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
  private final QueuePace pace = new QueuePace();

  /** Ranks that were not overloaded when a request was placed last. */
  private int ranks = 1;

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
    if (refusal == null && chooser.isHopeless(matched.request())) {
      refusal = Refusal.TARGETS_UNREACHABLE;
    }
    if (refusal == null && !chooser.anyConsideredHasRoom()) {
      WaitingRequest newcomer =
          queue.newcomer(
              matched,
              chooser.uncachedTokens(matched.request()),
              chooser.promptMs(matched.request()),
              nowNs,
              future);
      refusal = makeRoomFor(newcomer, completions);
      if (refusal == null) {
        if (queue.isEmpty()) {
          pace.restart();
        }
        queue.join(newcomer);
        return newcomer;
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
   * Returns why a request may not join the queue, or null. In a full queue, it takes the place of
   * one that goes behind.
   */
  private @Nullable Refusal makeRoomFor(
      WaitingRequest newcomer, List<RouteCompletion> completions) {
    Refusal full = queue.full();
    WaitingRequest displaced = full == null ? null : queue.displaced(newcomer);
    if (displaced == null || !queue.hasRoomWithout(displaced)) {
      return full;
    }
    refuse(displaced, Objects.requireNonNull(full), completions);
    return null;
  }

  private void refuse(WaitingRequest waiting, Refusal refusal, List<RouteCompletion> completions) {
    queue.leave(waiting);
    completions.add(
        new RouteCompletion(
            waiting.matched(), waiting.future(), new RouteOutcome.Refused(refusal)));
  }

  /*
   * No waiting request has room at the end of a step, except while one is matched again. So one can
   * have room now only on a rank whose load has fallen since: these eased ranks are looked at, and
   * forgotten when no waiting request can be placed there. Streamed tokens that do not change
   * the room cost nothing.
   */

  /**
   * Places all waiting requests for which there is room. O(eased ranks x filters of waiting
   * requests) if there is none; each placement also takes O(blocks + ranks), and under EDF O(n log
   * n) for n requests of a plan.
   *
   * @param fresh a request whose matches count as fresh whatever their age; may be null
   * @param completions receives the outcomes
   * @return a request whose matches must be refreshed before it is placed; null if there is none
   */
  @Nullable WaitingRequest serve(
      @Nullable WaitingRequest fresh, long nowNs, List<RouteCompletion> completions) {
    for (WaitingRequest next = servable(nowNs, completions);
        next != null;
        next = servable(nowNs, completions)) {
      if (!next.equals(fresh) && next.isStale(nowNs, options.matchRefreshAfterNs())) {
        return next;
      }
      queue.take(next);
      pace.left(next.promptMs(), ranks, queue.isEmpty(), nowNs);
      completions.add(new RouteCompletion(next.matched(), next.future(), dispatch(next, nowNs)));
    }
    return null;
  }

  private @Nullable WaitingRequest servable(long nowNs, List<RouteCompletion> completions) {
    if (queue.isEmpty()) {
      chooser.forgetEased();
      return null;
    }
    Set<RankFilter> withRoom = withRoom(chooser.easedWithRoom());
    if (withRoom.isEmpty()) {
      chooser.forgetEased();
      return null;
    }
    ranks = chooser.countRanks();
    return queue.next(
        waiting -> withRoom.contains(waiting.filter()),
        options.queuePolicy() == QueuePolicy.EDF ? plan(nowNs, completions) : null);
  }

  /** The filters of waiting requests that some of these ranks satisfy. */
  private Set<RankFilter> withRoom(List<RankId> open) {
    if (open.isEmpty()) {
      return Set.of();
    }
    Set<RankFilter> withRoom = new HashSet<>();
    for (RankFilter filter : queue.filters()) {
      if (filter.isAny() || open.stream().anyMatch(filter::allows)) {
        withRoom.add(filter);
      }
    }
    return withRoom;
  }

  /**
   * Plans which requests can be in time. Of the others, those of a negative class are refused, and
   * those that would be late even if they were next go behind.
   */
  private DeadlinePlan plan(long nowNs, List<RouteCompletion> completions) {
    DeadlinePlan plan =
        new DeadlinePlan(queue.inOrder(), nowNs, chooser.backlogsMs(ranks), pace.factor());
    for (WaitingRequest late : plan.leftOut()) {
      if (late.request().strictPriority() < 0) {
        refuse(late, Refusal.TARGETS_UNREACHABLE, completions);
      } else if (late.promptMs() > late.leftMs(nowNs)) {
        queue.giveUp(late);
      }
    }
    return plan;
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
        refuse(waiting, refusal, completions);
      }
    }
  }
}
