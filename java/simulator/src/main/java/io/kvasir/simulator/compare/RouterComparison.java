package io.kvasir.simulator.compare;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.JitteredArrivals;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.Workload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Replays one sequence of requests under several routers, at the speed that produces a given
 * utilisation under round-robin.
 *
 * <p>Everything is modelled, so results do not depend on the machine or the number of threads. Not
 * thread-safe. Does not own its threads.
 */
public final class RouterComparison {

  /** Allowed difference between the measured and the target utilisation of round-robin. */
  private static final double TOLERANCE = 0.005;

  /** Longest replay time, relative to the arrivals, that counts as keeping up. */
  private static final double MAX_TIME = 1.03;

  private static final int MAX_TRIALS = 12;

  /** A load that is missed by more than this factor says nothing. */
  private static final int MOST_BELOW = 10;

  private static final int TOKENS_PER_BLOCK = 32;

  private static final List<Measure> MEASURES =
      List.of(
          Measure.TTFT_P95_MS,
          Measure.TTFT_MEAN_MS,
          Measure.TOKEN_HIT_RATE,
          Measure.ROUTED_CV,
          Measure.PREFILL_SHARE);

  private final RequestSequence requests;
  private final RequestSequence withoutConversations;
  private final double jitterSeconds;
  private final List<Long> seeds;
  private final ExecutorService threads;

  /**
   * Creates a comparison.
   *
   * @param requests the requests
   * @param withoutConversations the same requests without conversation ids, for which the
   *     conversation router falls back to round-robin
   * @param jitterSeconds longest delay added to an arrival
   * @param seeds seeds of the jitter, 1 to {@link Estimate#MAX_VALUES}
   * @param threads run the replays
   */
  public RouterComparison(
      RequestSequence requests,
      RequestSequence withoutConversations,
      double jitterSeconds,
      List<Long> seeds,
      ExecutorService threads) {
    this.requests = requests;
    this.withoutConversations = withoutConversations;
    this.jitterSeconds = jitterSeconds;
    this.seeds = List.copyOf(seeds);
    this.threads = threads;
  }

  /** A speed and the utilisation under round-robin at that speed. */
  private record Speed(double factor, double share) {}

  /**
   * Compares routers under a load. Runs one replay for each router and seed, and up to a dozen to
   * find the speed.
   *
   * @param load the target load
   * @param poolTokens tokens of each rank's pool
   * @param routers the routers to compare
   * @return the results
   * @throws IllegalArgumentException if there are too few requests for a tenth of the load
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<PlayedLoad> compare(Load load, int poolTokens, List<AdpRouterKind> routers)
      throws InterruptedException {
    ReplaySettings worker = new ReplaySettings(load.ranks(), poolTokens, TOKENS_PER_BLOCK);
    ReplaySettings inTurn = worker.withRouter(AdpRouterKind.CONVERSATION);
    Map<String, Player> players = new LinkedHashMap<>();
    for (AdpRouterKind router : routers) {
      ReplaySettings routed = worker.withRouter(router);
      players.put(router.id(), arrivals -> replay(arrivals, routed));
    }
    return compare(load, poolTokens, 1, arrivals -> replay(arrivals, inTurn), players);
  }

  /**
   * Compares fleet routers under a load, over as many workers of one rank as the load has ranks.
   * The utilisation is the mean of the workers'.
   *
   * @param load the target load
   * @param poolTokens tokens of each rank's pool
   * @param routers names of the fleet routers to compare
   * @return the results
   * @throws IllegalArgumentException if there are too few requests for a tenth of the load, or a
   *     name is unknown
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<PlayedLoad> compareFleets(Load load, int poolTokens, List<String> routers)
      throws InterruptedException {
    ReplaySettings worker = new ReplaySettings(1, poolTokens, TOKENS_PER_BLOCK);
    Map<String, Player> players = new LinkedHashMap<>();
    for (String router : routers) {
      FleetSettings fleet = FleetSettings.of(load.ranks(), router);
      ReplaySettings named = worker.withHashFormat(fleet.naming(worker.pool().hashFormat()));
      players.put(router, arrivals -> replay(arrivals, named, fleet));
    }
    FleetSettings inTurn = FleetSettings.of(load.ranks(), "round_robin");
    return compare(
        load, poolTokens, load.ranks(), arrivals -> replay(arrivals, worker, inTurn), players);
  }

  /** Plays arrivals under one policy. */
  @FunctionalInterface
  private interface Player {
    ReplayResult play(Workload arrivals);
  }

  private Cell<PlayedLoad> compare(
      Load load, int poolTokens, int workers, Player inTurn, Map<String, Player> players)
      throws InterruptedException {
    Speed speed = speedFor(load.utilisation(), workers, inTurn);
    if (speed.share() < load.utilisation() / MOST_BELOW) {
      throw new IllegalArgumentException(
          requests.name()
              + ": "
              + requests.size()
              + " requests are too few for load "
              + load
              + ": the last answers come long after the last arrival");
    }
    Map<String, LongFunction<ReplayResult>> policies = new LinkedHashMap<>();
    players.forEach(
        (name, player) ->
            policies.put(name, seed -> player.play(arrivals(requests, seed, speed.factor()))));
    return new PolicyComparison(seeds, MEASURES, threads)
        .compare(
            new PlayedLoad(requests.name(), load, poolTokens, speed.factor(), speed.share()),
            policies);
  }

  /**
   * Bisects between a speed that is too slow and one that is too fast. If round-robin stops keeping
   * up below the target utilisation, the fastest speed at which it kept up is used.
   */
  private Speed speedFor(double utilisation, int workers, Player inTurn) {
    Speed slow = new Speed(0, 0);
    Speed fast = null;
    double next = 1;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
      ReplayResult result = inTurn.play(arrivals(withoutConversations, seeds.get(0), next));
      Speed tried = new Speed(next, result.prefillShare() / workers);
      if (!keepsUp(result, next) || tried.share() > utilisation + TOLERANCE) {
        fast = tried;
      } else if (tried.share() < utilisation - TOLERANCE) {
        slow = tried;
      } else {
        return tried;
      }
      next = between(slow, fast);
    }
    return slow.factor() > 0 || fast == null ? slow : fast;
  }

  /** Whether the last answer comes soon after the last request. */
  private boolean keepsUp(ReplayResult result, double speed) {
    double lastArrivalNs = requests.arrivalNs(requests.size() - 1) / speed;
    return result.virtualNs() <= MAX_TIME * lastArrivalNs;
  }

  private static double between(Speed slow, @Nullable Speed fast) {
    if (fast == null) {
      return 2 * slow.factor();
    }
    return slow.factor() == 0 ? fast.factor() / 2 : (slow.factor() + fast.factor()) / 2;
  }

  private Workload arrivals(RequestSequence sequence, long seed, double speed) {
    return new OpenLoop(new JitteredArrivals(sequence, jitterSeconds, seed), speed);
  }

  private static ReplayResult replay(Workload arrivals, ReplaySettings worker) {
    return Replay.run(arrivals, worker, RankPools.Place.HOST, ReplayProgress.SILENT);
  }

  private static ReplayResult replay(
      Workload arrivals, ReplaySettings worker, FleetSettings fleet) {
    return Replay.run(arrivals, worker, fleet, RankPools.Place.HOST, ReplayProgress.SILENT);
  }
}
