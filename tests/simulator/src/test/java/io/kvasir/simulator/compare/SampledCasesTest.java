package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** {@code projected} is close to the best router in cases drawn from all combinations. */
class SampledCasesTest {

  private static final long SEED = 20_261_123;
  private static final int CASES = LongRuns.cases(4, 12);

  @Test
  void projectedIsTheBestRouterOrCloseToIt() throws InterruptedException {
    List<Setting> all = new ArrayList<>();
    for (GeneratedTraffic traffic : GeneratedTraffic.values()) {
      // a replay of agents takes as long as all others
      if (traffic != GeneratedTraffic.AGENTIC && !traffic.isClosed()) {
        for (ReplayMode mode :
            List.of(
                ReplayMode.AGGREGATED, new ReplayMode.Context(new KvTransfer(70_272, 50e9), 10))) {
          for (double share : new double[] {0.5, 0.8, 0.95}) {
            Load load = new Load.Share(4, share);
            for (int poolTokens : new int[] {250_000, 1_000_000, 3_000_000}) {
              all.add(new Setting(traffic.of(load), mode, load, poolTokens));
            }
          }
        }
      }
    }
    Collections.shuffle(all, new Random(SEED));
    List<String> behind = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      RouterComparison comparison =
          new RouterComparison(List.of(1L), threads, RunStore.NONE, 10_000);
      for (Setting setting : all.subList(0, CASES)) {
        Cell<PlayedLoad> cell = comparison.compare(setting, List.of(AdpRouterKind.values()));
        double multiple = cell.overLowest("projected");
        assertThat(multiple).as(setting + ", drawn with seed " + SEED).isLessThan(1.2);
        if (multiple > 1.05) {
          behind.add(setting + ": " + multiple);
        }
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(behind).as("more than 5 % behind, drawn with seed " + SEED).hasSizeLessThan(2);
  }
}
