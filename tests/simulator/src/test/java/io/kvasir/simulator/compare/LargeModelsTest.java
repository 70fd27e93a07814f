package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.Sight;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.timing.StepProfile;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** {@code projected} chooses for engines of large models as it does for those of small ones. */
class LargeModelsTest {

  private static final List<Long> SEEDS = LongRuns.cases(List.of(1L), List.of(2L));

  @Test
  void promptsOfSecondsAreSpreadAsThoseOfMilliseconds() throws InterruptedException {
    SharedPrefix requests =
        new SharedPrefix(
            new SharedPrefix.Shape(
                3_000, 200, 8_000, 1, new LognormalTokens(2_000, 1), new IntRange(50, 100), 5, 3));
    Engines slow =
        new Engines(
            StepProfile.DSV3_H800_RANK.id(),
            StepProfile.DSV3_H800_RANK.timing(),
            EngineKind.SLOWER);
    Setting setting =
        new Setting(
            Traffic.jittered(requests, 1, ""),
            ReplayMode.AGGREGATED,
            new Load.Share(8, 0.8),
            1_000_000,
            List.of(),
            0,
            slow,
            Sight.WHOLE);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      Cell<PlayedLoad> cell =
          new RouterComparison(SEEDS, pool, RunStore.NONE, Double.POSITIVE_INFINITY)
              .compareFleets(setting, Map.of("cost", Map.of(), "projected", Map.of()));
      assertThat(cell.overLowest("projected")).isLessThan(1.02);
    } finally {
      pool.shutdownNow();
    }
  }
}
