package io.kvasir.simulator.replay;

import io.kvasir.execute.AdpLoop;
import io.kvasir.execute.StepEngine;
import io.kvasir.execute.TimedStepEngine;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.lockstep.Member;
import io.kvasir.lockstep.RankCollective;
import io.kvasir.lockstep.SoleCollective;
import io.kvasir.pool.RankPools;
import io.kvasir.simulator.workload.Arrivals;
import io.kvasir.simulator.workload.RequestPreparation;
import io.kvasir.simulator.workload.Workload;

/**
 * Drives one instance through a workload in virtual time. The clock jumps from iteration to
 * iteration and, while nothing runs, to the next arrival. For one workload and one instance
 * everything in the result but {@code wallNs} is the same in every run. Thread-safe.
 */
public final class Replay {

  private static final int ITERATIONS_PER_PROGRESS = 256;

  private Replay() {}

  /**
   * Replays a workload to its end.
   *
   * @param workload what is asked
   * @param settings the instance, made anew for this replay
   * @param place where its pools live
   * @param progress hears how far it is
   * @return what was measured
   * @throws IllegalStateException if all ranks are lost, or the instance stops making progress,
   *     which is a defect
   */
  public static ReplayResult run(
      Workload workload, ReplaySettings settings, RankPools.Place place, ReplayProgress progress) {
    return run(workload, settings, place, new TimedStepEngine(settings.timing()), progress);
  }

  /**
   * Replays a workload to its end in one of several processes, each of which serves some of the
   * ranks. All of them must call this with the same workload and settings, and all get the result
   * that one process alone would get. When a process is lost, its ranks are retired and the others
   * go on.
   *
   * @param workload what is asked
   * @param settings the instance
   * @param collective reaches the other processes; its members have the instance's ranks
   * @param place where this process' pools live
   * @param progress hears how far it is
   * @return what was measured
   * @throws io.kvasir.lockstep.LockstepException if this process cannot go on with the others
   * @throws IllegalArgumentException if the members do not have the instance's ranks
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
          "the members have " + ranks + " ranks, the instance " + settings.ranks());
    }
    StepEngine engine = new TimedStepEngine(settings.timing());
    return run(workload, settings, collective, place, engine, progress);
  }

  /** Replays with an engine that all ranks share. */
  static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      RankPools.Place place,
      StepEngine engine,
      ReplayProgress progress) {
    RankCollective alone = new SoleCollective(settings.ranks());
    return run(workload, settings, alone, place, engine, progress);
  }

  private static ReplayResult run(
      Workload workload,
      ReplaySettings settings,
      RankCollective collective,
      RankPools.Place place,
      StepEngine engine,
      ReplayProgress progress) {
    long startedNs = System.nanoTime();
    BlockHasher hasher = NativeBlockHasher.of(settings.hashFormat(), settings.tokensPerBlock());
    UpperBound upperBound = new UpperBound(settings.tokensPerBlock());
    try (Arrivals arrivals = workload.start(preparation(hasher, upperBound))) {
      ReplayMetrics metrics = new ReplayMetrics(settings.ranks(), arrivals);
      try (ReplayInstance instance =
          new ReplayInstance(settings, collective, place, hasher, engine, metrics)) {
        Drive drive = new Drive(instance, instance.loop(), arrivals, metrics);
        long virtualNs = drive.toEnd(progress, workload.plannedRequests());
        metrics.rejections().forEach(rejection -> upperBound.exclude(rejection.requestId()));
        return metrics.result(instance, upperBound, virtualNs, System.nanoTime() - startedNs);
      }
    }
  }

  private static RequestPreparation preparation(BlockHasher hasher, UpperBound upperBound) {
    return (request, answeredTokens) -> {
      BlockHashes hashes = hasher.hash(request.tokens(), request.scope());
      upperBound.serve(request, hashes.sequence(), answeredTokens);
      return new HashedRequest(request, hashes);
    };
  }

  /** The loop of virtual time. */
  private record Drive(
      ReplayInstance instance, AdpLoop loop, Arrivals arrivals, ReplayMetrics metrics) {

    long toEnd(ReplayProgress progress, long planned) {
      long nowNs = 0;
      for (long iteration = 0; ; iteration++) {
        submitUntil(nowNs);
        if (iteration % ITERATIONS_PER_PROGRESS == 0) {
          progress.at(metrics.settled(), planned, nowNs);
        }
        long settled = metrics.settled();
        long durationNs = loop.idle() ? 0 : instance.iterate(nowNs);
        requireLiveRanks();
        if (durationNs > 0) {
          nowNs += durationNs;
        } else if (metrics.settled() == settled) {
          // Nothing can run: time goes on to the next arrival.
          long nextNs = arrivals.nextNs();
          if (nextNs == Arrivals.NEVER) {
            break;
          }
          nowNs = Math.max(nowNs, nextNs);
        }
      }
      progress.at(metrics.settled(), planned, nowNs);
      if (!loop.idle()) {
        throw new IllegalStateException("requests are left that no rank will ever run");
      }
      return nowNs;
    }

    private void requireLiveRanks() {
      if (loop.liveRanks() == 0) {
        throw new IllegalStateException(
            "all ranks are lost; the replay ends with "
                + metrics.settled()
                + " of "
                + metrics.arrived()
                + " requests answered or rejected");
      }
    }

    private void submitUntil(long nowNs) {
      for (long dueNs = arrivals.nextNs(); dueNs <= nowNs; dueNs = arrivals.nextNs()) {
        HashedRequest request = arrivals.next();
        metrics.onArrived(request.request(), dueNs);
        loop.submit(request);
      }
    }
  }
}
