package io.kvasir.fleet.router.whatif;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadMessage;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A router that also asks other policies where they would place each request, and keeps count of
 * what they would find there.
 *
 * <p>The actual router alone decides. Each other policy places on virtual ranks of its own, with
 * the capacities of the actual ones unless they are stated, and learns of their blocks at once.
 * Virtual ranks step as actual ones are expected to ({@link VirtualSteps}), and hold prompts, not
 * answers; for comparison, the actual router's placements are counted on virtual ranks too. If
 * virtual ranks are stated, only hits are counted: requests have their first tokens and end when
 * the actual ones do.
 *
 * <p>Thread-safe. Other policies cost their own time in each call, under one lock.
 */
public final class WhatIfRouter implements FleetRouter {

  private static final Logger LOG = LoggerFactory.getLogger(WhatIfRouter.class);

  /** Observations that the times before the first one are worth. */
  private static final double PRIOR_WEIGHT = 2;

  /** The actual router learns from actual ranks. */
  private static final VirtualSteps.Listener IGNORED =
      new VirtualSteps.Listener() {
        @Override
        public void onFirstToken(long attempt, long atNs) {}

        @Override
        public void onTokens(long attempt, int tokens, long atNs) {}

        @Override
        public void onEnd(long attempt, boolean success, long atNs) {}
      };

  private final FleetRouter actual;
  private final FleetRouterSetup setup;
  private final VirtualRanks actualRanks;
  private final VirtualSteps actualSteps;
  private final @Nullable VirtualFleet fleet;
  private final AskedRouters others;
  private final Object lock = new Object();

  /**
   * Wraps a router.
   *
   * @param actual the router that decides, without ranks; closed with this one
   * @param others the other policies
   * @param args the settings of each of them
   * @param setup how blocks are named, their size, and the clock
   * @param fleet the virtual ranks; null for those of the actual router
   * @throws IllegalArgumentException if one of the others needs what is {@link #missing}
   */
  public WhatIfRouter(
      FleetRouter actual,
      List<FleetRouterProvider> others,
      Function<FleetRouterProvider, Map<String, Object>> args,
      FleetRouterSetup setup,
      @Nullable VirtualFleet fleet) {
    this.actual = Objects.requireNonNull(actual, "actual");
    this.setup = setup;
    this.actualRanks = new VirtualRanks(actual.name(), setup);
    this.fleet = fleet;
    StepModel times = new StepModel(StepTiming.DEFAULT, PRIOR_WEIGHT);
    this.actualSteps = new VirtualSteps(setup.tokensPerBlock(), times, true, IGNORED);
    List<AskedRouter> asked = new ArrayList<>();
    for (FleetRouterProvider provider : others) {
      String missing = missing(provider);
      if (!missing.isEmpty()) {
        throw new IllegalArgumentException(
            provider.name() + " needs " + missing + ", which virtual ranks do not have");
      }
      asked.add(
          new AskedRouter(provider, args.apply(provider), setup, fleet == null ? times : null));
    }
    this.others = new AskedRouters(asked, nowNs());
    for (int i = 0; fleet != null && i < fleet.ranks(); i++) {
      this.others.addRank(VirtualFleet.rank(i), fleet.capacity(setup.tokensPerBlock()));
    }
  }

  /**
   * {@return what a policy needs of engines and virtual ranks do not have; empty if it can be
   * asked}
   *
   * @param provider the policy
   */
  public static String missing(FleetRouterProvider provider) {
    if (provider.readsMetrics()) {
      return "metrics of engines";
    }
    return provider.followsBlocks() && !provider.choosesRanks()
        ? "TensorRT-LLM's events of workers"
        : "";
  }

  /** {@return whether {@link #counts} begins with the actual router} */
  public boolean countsActual() {
    return fleet == null;
  }

  /**
   * {@return the counts of the actual router, if its ranks are the virtual ones, and of the others
   * in the order they were given}
   */
  public List<WhatIfCounts> counts() {
    synchronized (lock) {
      List<WhatIfCounts> counts = new ArrayList<>();
      if (countsActual()) {
        actualSteps.advance(nowNs());
        counts.add(actualRanks.counts(actualSteps.firstTokens()));
      }
      counts.addAll(others.counts());
      return counts;
    }
  }

  @Override
  public String name() {
    return actual.name();
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return actual.readsTokens(request) || others.readTokens(request);
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    long arrivedNs = nowNs();
    RouteOutcome outcome = actual.route(request);
    nameBlocks(request);
    long[] placed;
    synchronized (lock) {
      placed = others.place(fleet == null ? request : request.anywhere());
    }
    if (outcome instanceof RouteOutcome.Waiting waiting) {
      return new RouteOutcome.Waiting(settled(request, arrivedNs, waiting.outcome(), placed));
    }
    settle(request, arrivedNs, outcome, placed);
    return outcome;
  }

  /** Reads the prompt, which the request keeps, before the lock is taken. */
  private void nameBlocks(FleetRequest request) {
    try {
      BlockHashes unused = request.prefix(setup.naming(), setup.tokensPerBlock());
    } catch (RuntimeException e) {
      LOG.debug("{} cannot be read, and counts as not placed", request, e);
    }
  }

  /** The outcome of a request that waits, known to callers once it is counted. */
  private CompletableFuture<RouteOutcome> settled(
      FleetRequest request,
      long arrivedNs,
      CompletableFuture<RouteOutcome> waiting,
      long[] placed) {
    CompletableFuture<RouteOutcome> settled = new CompletableFuture<>();
    CompletableFuture<RouteOutcome> unused =
        waiting.whenComplete(
            (outcome, failure) -> {
              settle(request, arrivedNs, outcome, placed);
              boolean taken =
                  failure == null
                      ? settled.complete(outcome)
                      : settled.completeExceptionally(failure);
              if (!taken && outcome instanceof RouteOutcome.Placed late) {
                onFinished(late.placement().attempt(), false); // cancelled meanwhile
              }
            });
    CompletableFuture<RouteOutcome> unusedToo =
        settled.whenComplete(
            (outcome, failure) -> {
              if (settled.isCancelled()) {
                waiting.cancel(false);
              }
            });
    return settled;
  }

  private void settle(
      FleetRequest request, long arrivedNs, @Nullable RouteOutcome outcome, long[] placed) {
    synchronized (lock) {
      others.stale(nowNs()).forEach(attempt -> finish(attempt, false));
      if (outcome instanceof RouteOutcome.Placed actually) {
        others.begin(actually.placement().attempt(), placed, nowNs());
        if (countsActual()) {
          countActual(request, arrivedNs, actually.placement());
        }
      } else {
        actualRanks.refused();
        others.drop(placed);
      }
    }
  }

  /** A prompt that cannot be read must not harm the actual placement. */
  private void countActual(FleetRequest request, long arrivedNs, Placement placement) {
    try {
      RankId rank = placement.rank();
      int uncached = actualRanks.placed(request, rank, (of, event) -> {});
      actualSteps.placed(
          placement.attempt(),
          rank,
          arrivedNs,
          nowNs(),
          request.inputTokens(),
          uncached,
          request.streams());
    } catch (RuntimeException e) {
      LOG.debug("{} cannot be counted", request, e);
      actualRanks.refused();
    }
  }

  private long nowNs() {
    return setup.clockNs().getAsLong();
  }

  /** Passes on the actual request's tokens; 0 says that its prompt is computed. */
  private void passOn(long attempt, int tokens) {
    synchronized (lock) {
      actualSteps.onActualTokens(attempt, nowNs(), tokens);
      others.onTokens(attempt, tokens, nowNs());
    }
  }

  private void finish(long attempt, boolean success) {
    long nowNs = nowNs();
    long firstNs = actualSteps.firstNs(attempt, nowNs);
    actualSteps.onActualEnd(attempt, nowNs, success, firstNs);
    others.finish(attempt, success, firstNs);
  }

  @Override
  public @Nullable RouteOutcome preview(FleetRequest request) {
    return actual.preview(request);
  }

  @Override
  public boolean onTokens(long attempt, int tokens) {
    boolean inFlight = actual.onTokens(attempt, tokens);
    passOn(attempt, tokens);
    return inFlight;
  }

  @Override
  public boolean onPrefillDone(long attempt) {
    boolean inFlight = actual.onPrefillDone(attempt);
    passOn(attempt, 0);
    return inFlight;
  }

  /** The other policies learn nothing: their requests may have gone to another rank. */
  @Override
  public void onServed(long attempt, int cachedTokens) {
    actual.onServed(attempt, cachedTokens);
  }

  @Override
  public HitCorrection correction(long workerId) {
    return actual.correction(workerId);
  }

  @Override
  public boolean onAlive(long attempt) {
    boolean inFlight = actual.onAlive(attempt);
    synchronized (lock) {
      others.onAlive(attempt, nowNs());
    }
    return inFlight;
  }

  @Override
  public boolean onFinished(long attempt, boolean success) {
    boolean inFlight = actual.onFinished(attempt, success);
    synchronized (lock) {
      finish(attempt, success);
    }
    return inFlight;
  }

  @Override
  public boolean addRank(RankId rank, RankCapacity capacity) {
    boolean added = actual.addRank(rank, capacity);
    synchronized (lock) {
      if (countsActual()) {
        actualRanks.add(rank, capacity.totalKvBlocks());
        actualSteps.add(rank, capacity, nowNs());
        others.addRank(rank, capacity);
      }
    }
    return added;
  }

  @Override
  public boolean removeRank(RankId rank) {
    boolean removed = actual.removeRank(rank);
    synchronized (lock) {
      if (countsActual()) {
        actualRanks.remove(rank);
        actualSteps.remove(rank, nowNs());
        others.removeRank(rank);
      }
    }
    return removed;
  }

  @Override
  public void onBlocks(RankId rank, BlockEvent event) {
    actual.onBlocks(rank, event);
  }

  @Override
  public @Nullable PrefixIndex index() {
    return actual.index();
  }

  @Override
  public void onForwardPass(RankId rank, ForwardPass pass) {
    actual.onForwardPass(rank, pass);
  }

  @Override
  public void onMetrics(RankId rank, EngineMetrics metrics) {
    actual.onMetrics(rank, metrics);
  }

  @Override
  public void loads(PredictedLoads out) {
    actual.loads(out);
  }

  @Override
  public @Nullable LoadExchange exchangeLoads(long routerId, Consumer<LoadMessage> out) {
    return actual.exchangeLoads(routerId, out);
  }

  @Override
  public void close() {
    actual.close();
    others.close();
  }
}
