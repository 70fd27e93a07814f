package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.simulator.fleet.FleetLayer;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.lockstep.ThreadCollective;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rank whose steps take twice as long, among ranks that step together, with noise. */
class SlowRankTest {

  private static final int SLOW = 2;
  private static final KvTransfer LINK = new KvTransfer(61 * 576 * 2, 50e9);

  private static MultiTurn workload(int sessions, int concurrency, long seed) {
    return new MultiTurn(
        new MultiTurn.Shape(
            sessions,
            new Starts.Closed(concurrency, 60),
            2_000,
            new IntRange(3, 12),
            new LognormalTokens(600, 1),
            new IntRange(50, 200),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 5, 1),
            seed));
  }

  private static ReplaySettings settings(int ranks, AdpRouterKind router) {
    return new ReplaySettings(ranks, 200_000, 32)
        .withRouter(router)
        .withMode(new ReplayMode.Context(LINK, 10));
  }

  /** The times of a rank do not depend on those of others, so members need not have all ranks. */
  private static IntFunction<StepEngine> engines(long seed) {
    TimedStepEngine timed = new TimedStepEngine(StepTiming.DEFAULT);
    return rank -> {
      SplittableRandom noise = new SplittableRandom(31 * seed + rank);
      double speed = rank == SLOW ? 2 : 1;
      return plan ->
          Math.round(timed.step(plan) * speed * Math.exp(0.05 * noise.nextDouble(-1, 1)));
    };
  }

  private static ReplayResult replay(AdpRouterKind router, int concurrency, long seed) {
    return Replay.run(
        workload(400, concurrency, seed),
        settings(8, router),
        RankPools.Place.HOST,
        engines(seed),
        ReplayProgress.SILENT);
  }

  @ParameterizedTest
  @CsvSource({"64, 0.99", "200, 0.85", "400, 0.85"})
  void getsLessWorkSoThatTheOthersWaitLess(int concurrency, double ratio) {
    double projectedMs = 0;
    double conversationMs = 0;
    long slowTokens = 0;
    long tokens = 0;
    for (long seed = 0; seed < 3; seed++) {
      ReplayResult projected = replay(AdpRouterKind.PROJECTED, concurrency, seed);
      projectedMs += projected.ttft().p95Ms();
      conversationMs += replay(AdpRouterKind.CONVERSATION, concurrency, seed).ttft().p95Ms();
      RankResult slow = projected.ranks().get(SLOW);
      slowTokens += slow.inputTokens() - slow.cachedTokens();
      tokens += projected.inputTokens() - projected.cachedTokens();
    }
    assertThat((double) slowTokens / tokens).as("its share of the work").isLessThan(0.8 / 8);
    assertThat(projectedMs / conversationMs).as("p95 of the first token").isLessThan(ratio);
  }

  @Test
  void membersLearnTheSame() throws Exception {
    MultiTurn workload = workload(60, 60, 1);
    ReplaySettings settings = settings(4, AdpRouterKind.PROJECTED);
    ReplayResult alone =
        Replay.run(workload, settings, RankPools.Place.HOST, engines(1), ReplayProgress.SILENT);
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<ReplayResult>> results = new ArrayList<>();
      for (RankCollective collective : ThreadCollective.of(Member.of(1, 2, 1), Await.limit())) {
        results.add(
            threads.submit(
                () ->
                    Replay.run(
                        workload,
                        settings,
                        FleetLayer.NONE,
                        collective,
                        RankPools.Place.HOST,
                        engines(1),
                        ReplayProgress.SILENT)));
      }
      for (Future<ReplayResult> result : results) {
        assertThat(result.get())
            .usingRecursiveComparison()
            .ignoringFields("wallNs", "prefillNs")
            .isEqualTo(alone);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
