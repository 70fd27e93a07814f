package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one step at a time on loads and queue, and delivers its outcomes. Thread-safe. */
final class RouterSteps {

  /*
   * One lock guards the predicted loads, the ranks and the queue. Reading, choosing and booking are
   * one step under it, so no two requests choose by the same loads. Requests are matched before the
   * step. The matches of a request that has waited too long are refreshed without the lock, and the
   * queue is served again afterwards.
   *
   * A request that finds no room joins the queue in the same step, and every change that may make
   * room serves the queue in its own step. So no request that could be served waits at the end of a
   * step, except one whose matches are being refreshed: the refreshing thread serves it.
   *
   * Outcomes are delivered without the lock, by the thread that ran the step. A request leaves the
   * queue under the lock and is either queued or complete, never both: so it completes once.
   */

  private static final Logger LOG = LoggerFactory.getLogger(RouterSteps.class);

  /** About as long as one or two steps take. */
  private static final int MOST_SPINS = 100;

  private final Lock lock;
  private final PromptMatches prompts;
  private final ActiveSequences sequences;
  private final QueueDispatcher dispatcher;
  private final FleetRouterSetup setup;

  RouterSteps(
      Lock lock,
      PromptMatches prompts,
      ActiveSequences sequences,
      QueueDispatcher dispatcher,
      FleetRouterSetup setup) {
    this.lock = lock;
    this.prompts = prompts;
    this.sequences = sequences;
    this.dispatcher = dispatcher;
    this.setup = setup;
  }

  long nowNs() {
    return setup.clockNs().getAsLong();
  }

  /** Names and matches a request. Without the lock. */
  MatchedRequest match(FleetRequest request) {
    return prompts.match(request);
  }

  /** Runs a step that makes no room. The step adds what it completes to its argument. */
  <T> T locked(Function<List<RouteCompletion>, T> step) {
    List<RouteCompletion> completions = new ArrayList<>(1);
    lock();
    try {
      return step.apply(completions);
    } finally {
      lock.unlock();
      completions.forEach(this::deliver);
    }
  }

  /** Steps are short: waiting for one costs less than a thread that parks and is woken. */
  private void lock() {
    for (int spins = 0; spins < MOST_SPINS; spins++) {
      if (lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  /** Runs a step and serves the queue in it. The step adds what it completes to its argument. */
  <T> T change(Function<List<RouteCompletion>, T> step) {
    Served<T> served =
        locked(
            completions -> {
              T done = step.apply(completions);
              return new Served<>(done, dispatcher.serve(null, nowNs(), completions));
            });
    WaitingRequest stale = served.stale();
    while (stale != null) {
      stale = refreshAndServe(stale);
    }
    return served.result();
  }

  /** The result of a step, and a request to be matched again before it can be served. */
  private record Served<T>(T result, @Nullable WaitingRequest stale) {}

  private @Nullable WaitingRequest refreshAndServe(WaitingRequest stale) {
    MatchedRequest fresh = match(stale.request());
    return locked(
        completions -> {
          stale.refresh(fresh, nowNs());
          return dispatcher.serve(stale, nowNs(), completions);
        });
  }

  private void deliver(RouteCompletion completion) {
    if (!(completion.outcome() instanceof RouteOutcome.Placed placed)) {
      completion.future().complete(completion.outcome());
      return;
    }
    Placement placement = placed.placement();
    if (!completion.future().isDone()) {
      report(completion.matched(), placement);
    }
    if (!completion.future().complete(placed)) { // cancelled while it was being placed
      change(rest -> sequences.free(placement.attempt()));
    }
  }

  /** A failure here must not keep the request's outcome, or another's, from being delivered. */
  private void report(MatchedRequest matched, Placement placement) {
    try {
      prompts.onPlaced(matched, placement.rank());
    } catch (RuntimeException failure) {
      LOG.warn("The placement of {} could not be reported", matched.request(), failure);
    }
  }
}
