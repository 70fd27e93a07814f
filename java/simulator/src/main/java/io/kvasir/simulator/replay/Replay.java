package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.lockstep.SoleCollective;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.simulator.fleet.ApartFleet;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetLayer;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.fleet.RoutedFleet;
import io.kvasir.simulator.workload.Arrivals;
import io.kvasir.simulator.workload.RequestPreparation;
import io.kvasir.simulator.workload.Workload;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Drives one worker, or several under a fleet router, through a workload in virtual time. For the
 * same workload and settings, every field of the result except {@code wallNs} is the same in every
 * run. Thread-safe.
 */
public final class Replay {

  private Replay() {}

  /**
   * Replays a workload to its end.
   *
   * @param workload the requests
   * @param settings the worker; every replay creates its own
   * @param place where its pools live
   * @param progress is called with the progress
   * @return the measurements
   * @throws IllegalStateException if all ranks are retired, or if the worker stops making progress,
   *     which is a defect
   */
  public static ReplayResult run(
      Workload workload, ReplaySettings settings, RankPools.Place place, ReplayProgress progress) {
    return run(workload, settings, place, timed(settings), progress);
  }

  /**
   * Replays a workload to its end in one of several processes, each of which serves some of the
   * ranks. All of them must call this with the same workload and settings. All get the result that
   * a single process would produce. When a process is lost, its ranks are retired and the others
   * continue.
   *
   * @param workload the requests
   * @param settings the worker
   * @param collective connects the processes; its members must have the worker's ranks
   * @param place where this process's pools live
   * @param progress is called with the progress
   * @return the measurements
   * @throws io.kvasir.engine.lockstep.LockstepException if this process cannot continue with the
   *     others
   * @throws IllegalArgumentException if the members do not have the worker's ranks
   */
  public static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      RankCollective collective,
      RankPools.Place place,
      ReplayProgress progress) {
    int ranks = collective.members().stream().mapToInt(Member::ranks).sum();
    if (ranks != settings.ranks()) {
      throw new IllegalArgumentException(
          "the members have " + ranks + " ranks, the worker " + settings.ranks());
    }
    return run(workload, settings, FleetLayer.NONE, collective, place, timed(settings), progress);
  }

  /** Replays with an engine for each rank. */
  static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      RankPools.Place place,
      IntFunction<StepEngine> engines,
      ReplayProgress progress) {
    RankCollective alone = new SoleCollective(settings.ranks());
    return run(workload, settings, FleetLayer.NONE, alone, place, engines, progress);
  }

  /**
   * Replays a workload to its end with a fleet router over several workers.
   *
   * @param workload the requests
   * @param settings settings that all workers share; every replay creates its own workers
   * @param fleet the workers, their router, and the delays of its events and metrics
   * @param place where each worker's pools live
   * @param progress is called with the progress
   * @return the measurements
   * @throws IllegalArgumentException if the router's args are wrong, it cannot follow the pools'
   *     naming of blocks, or it chooses ranks and the workers have several
   * @throws IllegalStateException if all ranks of a worker are retired, or one stops making
   *     progress, which is a defect
   */
  public static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      FleetSettings fleet,
      RankPools.Place place,
      ReplayProgress progress) {
    return run(workload, settings, fleet, place, timed(settings), progress);
  }

  /**
   * Replays a workload to its end with prompts on some workers and answers on others.
   *
   * @param workload the requests
   * @param settings settings that all workers share, in mode {@link ReplayMode.Apart}; every replay
   *     creates its own workers
   * @param apart the workers and their routers
   * @param place where each worker's pools live
   * @param progress is called with the progress
   * @return the measurements
   * @throws IllegalArgumentException as for one fleet
   * @throws IllegalStateException if all ranks of a worker are retired, or one stops making
   *     progress, which is a defect
   */
  public static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      ApartSettings apart,
      RankPools.Place place,
      ReplayProgress progress) {
    if (!(settings.mode() instanceof ReplayMode.Apart mode)) {
      throw new IllegalArgumentException("mode must be apart, not " + settings.mode().id());
    }
    ApartFleet fleet =
        new ApartFleet(
            apart,
            routed(settings, apart.prefill()),
            routed(settings, apart.decode()),
            tokens -> ReplayMode.Apart.TRANSFER_BASE_NS + mode.transfer().durationNs(tokens));
    RankCollective alone = new SoleCollective(settings.ranks());
    return run(
        workload,
        settings,
        fleet,
        (hasher, workers, metrics) ->
            ApartWorkers.add(settings, mode, fleet, alone, place, hasher, workers, metrics),
        progress);
  }

  private static RoutedFleet routed(ReplaySettings settings, FleetSettings fleet) {
    ReplaySettings.Pool pool = settings.pool();
    return new RoutedFleet(
        fleet,
        pool.hashFormat(),
        pool.tokensPerBlock(),
        settings.ranks(),
        new RankCapacity(pool.blocks(), settings.executor().tokenBudget()),
        settings.measures().targets());
  }

  /** Replays with an engine for each rank, shared by all workers. */
  static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      FleetSettings fleet,
      RankPools.Place place,
      IntFunction<StepEngine> engines,
      ReplayProgress progress) {
    RankCollective alone = new SoleCollective(settings.ranks());
    return run(workload, settings, routed(settings, fleet), alone, place, engines, progress);
  }

  private static IntFunction<StepEngine> timed(ReplaySettings settings) {
    StepEngine engine = new TimedStepEngine(settings.engines().timing());
    return rank -> engine;
  }

  /** Replays with an engine for each rank of this process. */
  static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      FleetLayer fleet,
      RankCollective collective,
      RankPools.Place place,
      IntFunction<StepEngine> engines,
      ReplayProgress progress) {
    return run(
        workload,
        settings,
        fleet,
        (hasher, workers, metrics) -> {
          for (int i = 0; i < fleet.workers(); i++) {
            WorkerTally tally = new WorkerTally(settings.ranks(), metrics);
            workers.add(
                new ReplayWorker(
                    settings, i, fleet.followsBlocks(), collective, place, hasher, engines, tally),
                tally);
          }
        },
        progress);
  }

  /** Makes the workers of a replay. */
  private interface WorkerMaker {
    void add(BlockHasher hasher, ReplayWorkers workers, ReplayMetrics metrics);
  }

  private static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      FleetLayer fleet,
      WorkerMaker maker,
      ReplayProgress progress) {
    long startedNs = System.nanoTime();
    ReplaySettings.Pool pool = settings.pool();
    BlockHasher hasher = NativeBlockHasher.of(pool.hashFormat(), pool.tokensPerBlock());
    UpperBound upperBound = new UpperBound(pool.tokensPerBlock());
    Measures measures = settings.measures();
    ReuseDistances reuse = measures.reuseCurve() ? new ReuseDistances(pool.tokensPerBlock()) : null;
    boolean answers = !(settings.mode() instanceof ReplayMode.Context);
    try (Arrivals arrivals = workload.start(preparation(hasher, upperBound, reuse, answers));
        ReplayWorkers workers = new ReplayWorkers();
        fleet) {
      ReplayMetrics metrics = new ReplayMetrics(arrivals, fleet, measures);
      maker.add(hasher, workers, metrics);
      ReplayDrive drive =
          new ReplayDrive(workers.all(), fleet, arrivals, metrics, settings.sight());
      long virtualNs = drive.toEnd(progress, workload.plannedRequests());
      metrics.rejections().forEach(rejection -> upperBound.exclude(rejection.requestId()));
      return metrics.result(
          settings,
          workers.ranks(),
          upperBound,
          reuse,
          workers.prefillNs(),
          virtualNs,
          System.nanoTime() - startedNs);
    }
  }

  /** If ranks do not compute answers, no pool can cache them. */
  private static RequestPreparation preparation(
      BlockHasher hasher, UpperBound upperBound, @Nullable ReuseDistances reuse, boolean answers) {
    return (request, answeredTokens) -> {
      BlockHashes hashes = hasher.hash(request.tokens(), request.scope());
      int computed = answers ? answeredTokens : 0;
      upperBound.serve(request, hashes.sequence(), computed);
      if (reuse != null) {
        reuse.serve(request, hashes.sequence(), computed);
      }
      return new HashedRequest(request, hashes);
    };
  }
}
