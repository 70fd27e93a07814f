package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Workload;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fleet routers that choose ranks of two engines, whose four ranks each step together. */
class LockstepFleetTest {

  private static final int REQUESTS = 1_500;

  private static Workload workload(long seed) {
    return new OpenLoop(
        new SharedPrefix(
            new SharedPrefix.Shape(
                REQUESTS,
                64,
                2_000,
                0.5,
                new LognormalTokens(300, 0.8),
                new IntRange(50, 400),
                45,
                seed)),
        1);
  }

  private static ReplayResult run(String router, long seed) {
    return Replay.run(
        workload(seed),
        new ReplaySettings(4, 50_000, 32),
        FleetSettings.of(2, router).withEventDelayNs(5_000_000),
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"projected", "cost", "approximate"})
  void requestsAreServedByTheRankThatTheFleetNames(String router) {
    ReplayResult result = run(router, 1);
    assertThat(result.completed()).isEqualTo(REQUESTS);
    assertThat(result.decisions()).isEqualTo(Map.of(AdpReason.EXPLICIT, (long) REQUESTS));
    ReplayResult again = run(router, 1);
    assertThat(again).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(result);
  }

  @Test
  void projectedKnowsWhatTheOtherRanksAddToAStep() {
    double projected = 0;
    double cost = 0;
    for (long seed = 1; seed <= 4; seed++) {
      ReplayResult result = run("projected", seed);
      projected += result.ttft().p95Ms();
      cost += run("cost", seed).ttft().p95Ms();
      long[] requests = result.ranks().stream().mapToLong(RankResult::requests).toArray();
      assertThat(Arrays.stream(requests).min().orElseThrow())
          .as("seed %d: %s", seed, Arrays.toString(requests))
          .isGreaterThan(REQUESTS / 8 / 2);
    }
    assertThat(projected / cost).isLessThan(0.95);
  }
}
