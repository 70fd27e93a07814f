package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.load.ActiveSequences;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does one step at a time on loads and line, and tells what came of it. Thread-safe. */
final class SchedulerSteps {

  /*
   * One lock guards the predicted loads, the ranks and the waiting line. Reading, choosing and
   * booking are one step under it, so no two requests choose by the same loads. Matches are taken
   * before, and so are those of a request that waited too long: the lock is left for that, and the
   * line is looked at anew afterwards.
   *
   * A request that finds no room joins the line in the same step, and whatever may make room serves
   * the line in its own step. So at the end of a step nobody waits who could be served, except one
   * whose matches are being refreshed: the thread that does so comes back for it.
   *
   * Outcomes are told when the lock is free, by the thread that settled them. A request is in the
   * line or settled, never both, and leaves the line under the lock: so it is settled once.
   */

  private static final Logger LOG = LoggerFactory.getLogger(SchedulerSteps.class);

  private final Lock lock;
  private final PrefixIndex index;
  private final ActiveSequences sequences;
  private final QueueDispatcher service;
  private final Consumer<HitRateEvent> hitRates;
  private final LongSupplier clockNs;

  SchedulerSteps(
      Lock lock,
      PrefixIndex index,
      ActiveSequences sequences,
      QueueDispatcher service,
      Consumer<HitRateEvent> hitRates,
      LongSupplier clockNs) {
    this.lock = lock;
    this.index = index;
    this.sequences = sequences;
    this.service = service;
    this.hitRates = hitRates;
    this.clockNs = clockNs;
  }

  /** Does a step that makes no room. */
  <T> T locked(Function<List<SettledOutcome>, T> step) {
    List<SettledOutcome> settled = new ArrayList<>(1);
    lock.lock();
    try {
      return step.apply(settled);
    } finally {
      lock.unlock();
      settled.forEach(this::tell);
    }
  }

  /** Does a step and serves the line in it. The step adds what it settles to its argument. */
  <T> T change(Function<List<SettledOutcome>, T> step) {
    WaitingRequest[] stale = {null};
    T result =
        locked(
            settled -> {
              T done = step.apply(settled);
              stale[0] = service.serve(null, clockNs.getAsLong(), settled);
              return done;
            });
    while (stale[0] != null) {
      stale[0] = refreshAndServe(stale[0]);
    }
    return result;
  }

  private WaitingRequest refreshAndServe(WaitingRequest stale) {
    RankMatches fresh = match(stale.request());
    return locked(
        settled -> {
          long nowNs = clockNs.getAsLong();
          stale.setMatches(fresh, nowNs);
          return service.serve(stale, nowNs, settled);
        });
  }

  /** What the ranks hold of a request. Without the lock. */
  RankMatches match(SelectionRequest request) {
    RankMatches matches = new RankMatches();
    index.match(request.sequenceHashes(), request.blocks(), matches);
    return matches;
  }

  private void tell(SettledOutcome settled) {
    boolean told = settled.future().complete(settled.outcome());
    if (settled.outcome() instanceof SelectionOutcome.Dispatched dispatched) {
      CostDecision decision = dispatched.decision();
      if (told) {
        tellHitRate(decision);
      } else { // cancelled in the moment of its dispatch
        change(rest -> sequences.free(decision.attempt()));
      }
    }
  }

  private void tellHitRate(CostDecision decision) {
    try {
      hitRates.accept(HitRateEvent.of(decision));
    } catch (RuntimeException failure) {
      LOG.warn("A listener failed at the dispatch of {}", decision.request(), failure);
    }
  }
}
