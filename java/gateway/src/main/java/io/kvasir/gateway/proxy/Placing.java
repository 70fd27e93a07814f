package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.exchange.EventLoop;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the targets of one request's attempts: by the fleet router of its model, or by load where
 * a request has no prompt.
 *
 * <p>Confined to the request's event loop.
 */
final class Placing {

  private static final Logger LOG = LoggerFactory.getLogger(Placing.class);
  private static final AtomicLong NEXT_ID = new AtomicLong();

  private final EventLoop loop;
  private final Inbound inbound;
  private final @Nullable ModelFleet fleet;
  private final List<FleetWorker> workers;
  private final @Nullable Target owner;
  private final Set<FleetWorker> tried = new HashSet<>();

  /** The tokens of each prompt; null while no router needed them. */
  private @Nullable List<int[]> tokens;

  /** What a choice comes to. */
  interface Result {

    void onChosen(ChosenTarget choice);

    void onWaiting(Runnable cancel);

    void onRefused(Problem problem);
  }

  /**
   * Begins without attempts.
   *
   * @param fleet the workers of the request's model; null for any model
   * @param workers the workers that may serve the request
   * @param owner the target that must serve it; null for any
   */
  Placing(
      EventLoop loop,
      Inbound inbound,
      @Nullable ModelFleet fleet,
      List<FleetWorker> workers,
      @Nullable Target owner) {
    this.loop = loop;
    this.inbound = inbound;
    this.fleet = fleet;
    this.workers = workers;
    this.owner = owner;
  }

  /** An attempt at a worker failed; the request does not return there. */
  void onFailed(FleetWorker worker) {
    tried.add(worker);
  }

  /** Whether a worker is left that can take the request. */
  boolean hasOther(long nowNs) {
    return owner == null
        && workers.stream().anyMatch(worker -> !tried.contains(worker) && worker.takes(nowNs));
  }

  /**
   * Chooses a target.
   *
   * @param result receives the choice or a refusal, at once or after a wait, on the event loop
   */
  void choose(Result result) {
    long nowNs = System.nanoTime();
    if (fleet == null || !inbound.endpoint().generates()) {
      chooseByLoad(nowNs, result);
      return;
    }
    if (owner != null && !owner.worker().takes(nowNs)) {
      result.onRefused(ownerGone());
      return;
    }
    FleetRequest request = request(fleet, nowNs);
    if (tokens == null && fleet.router().readsTokens(request)) {
      askTokens(fleet, nowNs, result);
    } else {
      settle(fleet, fleet.route(request), result);
    }
  }

  /** Routes again with the prompt's tokens. Without them, the worker says what is wrong. */
  private void askTokens(ModelFleet among, long nowNs, Result result) {
    FleetWorker any = owner != null ? owner.worker() : leastLoaded(workers, tried, nowNs);
    if (any == null) {
      result.onRefused(Refusals.noWorker("no worker can take the request"));
      return;
    }
    result.onWaiting(
        PromptTokens.ask(any.upstream(), loop, inbound, found -> onTokens(among, found, result)));
  }

  private void onTokens(ModelFleet among, @Nullable List<int[]> found, Result result) {
    long nowNs = System.nanoTime();
    tokens = found;
    try {
      if (found == null) {
        chooseByLoad(nowNs, result);
      } else {
        settle(among, among.route(request(among, nowNs)), result);
      }
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      result.onRefused(Problem.internal());
    }
  }

  private FleetRequest request(ModelFleet among, long nowNs) {
    RankFilter filter = owner == null ? among.without(tried, nowNs) : among.pin(owner);
    int expected = inbound.body() == null ? 0 : inbound.body().maxOutputTokens();
    return FleetRequest.builder(NEXT_ID.incrementAndGet(), inbound.prompt())
        .conversationId(inbound.conversationId())
        .scope(inbound.scope())
        .filter(filter)
        .expectedOutputTokens(expected)
        .tokens(tokens)
        .build();
  }

  private void settle(ModelFleet among, RouteOutcome outcome, Result result) {
    if (outcome instanceof RouteOutcome.Placed placed) {
      place(among, placed.placement(), result);
    } else if (outcome instanceof RouteOutcome.Waiting waiting) {
      result.onWaiting(() -> waiting.outcome().cancel(false));
      CompletableFuture<RouteOutcome> unused =
          waiting
              .outcome()
              .whenComplete(
                  (later, failure) -> {
                    if (later != null) {
                      loop.execute(() -> settle(among, later, result));
                    } else if (!(failure instanceof CancellationException)) {
                      loop.execute(() -> result.onRefused(Problem.internal()));
                    }
                  });
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      result.onRefused(Refusals.problem(refused));
    }
  }

  private static void place(ModelFleet among, Placement placement, Result result) {
    Target target = among.target(placement.rank());
    if (target == null) {
      among.router().onFinished(placement.attempt(), false);
      result.onRefused(Refusals.noWorker("the chosen worker was removed"));
      return;
    }
    target.worker().onSent();
    result.onChosen(
        new ChosenTarget(
            target.worker(),
            target.dpRank(),
            placement.reason().id(),
            placement.matchedTokens(),
            among.router(),
            placement.attempt()));
  }

  private void chooseByLoad(long nowNs, Result result) {
    if (owner != null) {
      if (owner.worker().takes(nowNs)) {
        result.onChosen(byLoad(owner.worker(), owner.dpRank(), "explicit"));
      } else {
        result.onRefused(ownerGone());
      }
      return;
    }
    FleetWorker least = leastLoaded(workers, tried, nowNs);
    if (least == null) {
      result.onRefused(Refusals.noWorker("no worker can take the request"));
    } else {
      result.onChosen(byLoad(least, ModelFleet.ANY_RANK, "load"));
    }
  }

  private static ChosenTarget byLoad(FleetWorker worker, int dpRank, String reason) {
    worker.onSent();
    return new ChosenTarget(worker, dpRank, reason, 0, null, 0);
  }

  private static @Nullable FleetWorker leastLoaded(
      List<FleetWorker> workers, Collection<FleetWorker> tried, long nowNs) {
    FleetWorker least = null;
    for (FleetWorker worker : workers) {
      if (!tried.contains(worker)
          && worker.takes(nowNs)
          && (least == null || worker.activeRequests() < least.activeRequests())) {
        least = worker;
      }
    }
    return least;
  }

  private static Problem ownerGone() {
    return Refusals.noWorker("the worker that made the response cannot take requests now");
  }
}
