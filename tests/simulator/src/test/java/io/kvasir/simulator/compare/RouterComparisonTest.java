package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class RouterComparisonTest {

  private static final List<AdpRouterKind> ROUTERS =
      List.of(AdpRouterKind.DEFAULT, AdpRouterKind.PROJECTED);

  @Test
  void playsAtTheSpeedThatKeepsRoundRobinAsBusyAsAskedFor() throws InterruptedException {
    Cell<PlayedLoad> cell = compare(new Load(4, 0.5), 1, List.of(1L, 2L));
    assertThat(cell.load().reachedShare()).isCloseTo(0.5, within(0.005));
    assertThat(cell.load().speed()).isPositive();
    assertThat(cell.policies())
        .extracting(Compared::policy)
        .containsExactlyElementsOf(ROUTERS.stream().map(AdpRouterKind::id).toList());
    assertThat(cell.of("projected").mean(Measure.TOKEN_HIT_RATE))
        .as("prefixes are shared, and only one of the two looks for them")
        .isGreaterThan(cell.of("default").mean(Measure.TOKEN_HIT_RATE));
  }

  @Test
  void resultsDoNotDependOnHowManyThreadsWork() throws InterruptedException {
    Load load = new Load(2, 0.6);
    Cell<PlayedLoad> three = compare(load, 3, List.of(7L, 8L, 9L));
    Cell<PlayedLoad> one = compare(load, 1, List.of(7L, 8L, 9L));
    assertThat(three.policies()).isEqualTo(one.policies());
    assertThat(three.ratios()).isEqualTo(one.ratios());
  }

  @Test
  void whereRoundRobinCannotKeepUpTheFastestSpeedIsTakenAtWhichItDoes()
      throws InterruptedException {
    // A pool that holds one request at a time: decoding, not prefill, is the limit.
    Cell<PlayedLoad> cell = compare(new Load(2, 0.95), 1, List.of(1L), 4_096);
    assertThat(cell.load().reachedShare()).isLessThan(0.9);
    assertThat(cell.load().speed()).isPositive();
  }

  private static Cell<PlayedLoad> compare(Load load, int threads, List<Long> seeds)
      throws InterruptedException {
    return compare(load, threads, seeds, 100_000);
  }

  private static Cell<PlayedLoad> compare(Load load, int threads, List<Long> seeds, int poolTokens)
      throws InterruptedException {
    RequestSequence requests =
        new SharedPrefix(
            new SharedPrefix.Shape(
                1_500, 10, 1_000, 1, new LognormalTokens(1_000, 0.5), new IntRange(50, 100), 5, 3));
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      return new RouterComparison(seeds, pool, RunStore.NONE)
          .compare(
              new Setting(
                  Traffic.jittered(requests, 1, ""), ReplayMode.AGGREGATED, load, poolTokens),
              ROUTERS);
    } finally {
      pool.shutdownNow();
    }
  }
}
