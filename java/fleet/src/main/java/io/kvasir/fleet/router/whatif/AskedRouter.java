package io.kvasir.fleet.router.whatif;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A policy that is asked only. Its events are those of its virtual ranks. Not thread-safe. */
final class AskedRouter implements VirtualSteps.Listener {

  private static final Logger LOG = LoggerFactory.getLogger(AskedRouter.class);

  final FleetRouter router;
  private final VirtualRanks ranks;
  private final FleetRouterSetup setup;
  private final boolean follows;

  /** Null where requests have their tokens when the actual ones have. */
  private final @Nullable VirtualSteps steps;

  private long eventNs = VirtualSteps.UNKNOWN;
  private long lastNs = VirtualSteps.UNKNOWN;

  /**
   * @param times of steps; null if they cannot be learned
   */
  AskedRouter(
      FleetRouterProvider provider,
      Map<String, Object> args,
      FleetRouterSetup setup,
      @Nullable StepModel times) {
    this.setup = setup;
    router =
        provider.create(
            args,
            new FleetRouterSetup(
                setup.naming(), setup.tokensPerBlock(), this::clockNs, setup.environment()));
    ranks = new VirtualRanks(provider.name(), setup);
    follows = provider.followsBlocks();
    steps = times == null ? null : new VirtualSteps(setup.tokensPerBlock(), times, false, this);
  }

  void add(RankId rank, RankCapacity capacity) {
    ranks.add(rank, capacity.totalKvBlocks());
    if (steps != null) {
      steps.add(rank, capacity, nowNs());
    }
    safely(to -> to.addRank(rank, capacity));
  }

  void remove(RankId rank) {
    ranks.remove(rank);
    if (steps != null) {
      steps.remove(rank, nowNs());
    }
    safely(to -> to.removeRank(rank));
  }

  WhatIfCounts counts() {
    advance();
    return ranks.counts(steps == null ? null : steps.firstTokens());
  }

  private void advance() {
    if (steps != null) {
      steps.advance(nowNs());
    }
  }

  private long nowNs() {
    return setup.clockNs().getAsLong();
  }

  /** Now, or the time of the event that the router receives. It does not go back. */
  private long clockNs() {
    long ns = eventNs == VirtualSteps.UNKNOWN ? nowNs() : eventNs;
    lastNs = lastNs == VirtualSteps.UNKNOWN ? ns : Math.max(lastNs, ns);
    return lastNs;
  }

  private void at(long ns, Consumer<FleetRouter> call) {
    eventNs = ns;
    try {
      safely(call);
    } finally {
      eventNs = VirtualSteps.UNKNOWN;
    }
  }

  @Override
  public void onFirstToken(long attempt, long atNs) {
    at(atNs, to -> to.onPrefillDone(attempt));
  }

  @Override
  public void onTokens(long attempt, int tokens, long atNs) {
    at(atNs, to -> to.onTokens(attempt, tokens));
  }

  @Override
  public void onEnd(long attempt, boolean success, long atNs) {
    at(atNs, to -> to.onFinished(attempt, success));
  }

  /**
   * The actual request has got tokens.
   *
   * @param tokens their number; 0 if its prompt is computed, and nothing else is known
   */
  void onActualTokens(long attempt, int tokens) {
    long nowNs = nowNs();
    if (steps != null && steps.onActualTokens(attempt, nowNs, tokens)) {
      return;
    }
    if (tokens > 0) {
      onTokens(attempt, tokens, nowNs);
    } else {
      onFirstToken(attempt, nowNs);
    }
  }

  /**
   * The actual request has ended.
   *
   * @param firstNs when it had its first token, if that was not reported; {@link
   *     VirtualSteps#UNKNOWN} if not known
   */
  void onActualEnd(long attempt, boolean success, long firstNs) {
    long nowNs = nowNs();
    if (steps == null || !steps.onActualEnd(attempt, nowNs, success, firstNs)) {
      onEnd(attempt, success, nowNs);
    }
  }

  void onAlive(long attempt) {
    advance();
    safely(to -> to.onAlive(attempt));
  }

  /** Calls the router; an exception is logged, so that it cannot affect the actual router. */
  private void safely(Consumer<FleetRouter> call) {
    try {
      call.accept(router);
    } catch (RuntimeException e) {
      LOG.warn("The what-if router {} failed", router.name(), e);
    }
  }

  /** Returns the attempt; 0 if the request is not placed. */
  long placeOrNot(FleetRequest request) {
    advance();
    try {
      return place(request);
    } catch (RuntimeException e) {
      LOG.warn("{} could not say where it would place {}", router.name(), request, e);
      ranks.refused();
      return 0;
    }
  }

  private void onBlocks(RankId rank, BlockEvent event) {
    if (follows) {
      router.onBlocks(rank, event);
    }
  }

  boolean readsTokens(FleetRequest request) {
    try {
      return router.readsTokens(request);
    } catch (RuntimeException e) {
      LOG.warn("The what-if router {} failed", router.name(), e);
      return false;
    }
  }

  private long place(FleetRequest request) {
    RouteOutcome outcome = router.route(request);
    if (outcome instanceof RouteOutcome.Placed placed) {
      long attempt = placed.placement().attempt();
      try {
        RankId rank = placed.placement().rank();
        int uncached = ranks.placed(request, rank, this::onBlocks);
        if (steps != null) {
          long nowNs = nowNs();
          steps.placed(
              attempt, rank, nowNs, nowNs, request.inputTokens(), uncached, request.streams());
        }
      } catch (RuntimeException e) {
        router.onFinished(attempt, false);
        throw e;
      }
      return attempt;
    }
    if (outcome instanceof RouteOutcome.Waiting waiting) {
      waiting.outcome().cancel(false);
    }
    ranks.refused();
    return 0;
  }
}
