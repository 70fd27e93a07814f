package io.kvasir.simulator.compare;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.ClosedLoop;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.LongFunction;

/**
 * Replays prompts with shared prefixes under several fleet routers, in a closed loop.
 *
 * <p>Everything is modelled, so results do not depend on the machine or the number of threads.
 * Immutable. Does not own its threads.
 *
 * @param prompts the prompts
 * @param each one of the workers, of one rank; its hash format is replaced where a fleet router
 *     needs another
 * @param seeds seeds of the prompts, 1 to {@link Estimate#MAX_VALUES}
 * @param threads run the replays
 */
public record FleetComparison(
    PrefixedPrompts prompts, ReplaySettings each, List<Long> seeds, ExecutorService threads) {

  private static final List<Measure> MEASURES =
      List.of(
          Measure.TTFT_P50_MS,
          Measure.TTFT_P95_MS,
          Measure.ITL_P50_MS,
          Measure.ITL_P95_MS,
          Measure.BEHIND_PROMPTS,
          Measure.TOKEN_HIT_RATE,
          Measure.ROUTED_CV,
          Measure.ROUTED_MAX_OVER_MIN);

  /** Copies the list. */
  public FleetComparison {
    seeds = List.copyOf(seeds);
  }

  /**
   * Compares fleet routers under a load. Runs one replay for each router and seed.
   *
   * @param load request lengths, number of requests and concurrency
   * @param routers the fleets to compare, one for each router, in the order of the report
   * @return the results
   * @throws InterruptedException if this thread is interrupted
   */
  public Cell<ClosedLoad> compare(ClosedLoad load, List<FleetSettings> routers)
      throws InterruptedException {
    Map<String, LongFunction<ReplayResult>> policies = new LinkedHashMap<>();
    for (FleetSettings fleet : routers) {
      ReplaySettings worker =
          each.withHashFormat(fleet.naming(each.pool().hashFormat()))
              .withMeasures(new Measures(null, false, true));
      policies.put(
          fleet.router().name(),
          seed ->
              Replay.run(
                  new ClosedLoop(
                      prompts.sequence(load.requests(), load.lengths(), seed), load.concurrency()),
                  worker,
                  fleet,
                  RankPools.Place.HOST,
                  ReplayProgress.SILENT));
    }
    return new PolicyComparison(seeds, MEASURES, threads, RunStore.NONE)
        .compare(load, "", policies);
  }
}
