package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DurationsTest {

  @Test
  void percentilesAreTheNearestRanksOfAllValues() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long[] values = random.longs(random.nextInt(1, 300), 0, random.nextInt(1, 50)).toArray();
      Durations durations = new Durations();
      Arrays.stream(values).forEach(value -> durations.add(value * 1_000_000));
      DurationSummary summary = durations.summary();
      Arrays.sort(values);

      assertThat(summary.count()).as("seed %d", seed).isEqualTo(values.length);
      assertThat(summary.meanMs())
          .isEqualTo(Arrays.stream(values).average().orElseThrow(), within(1e-9));
      assertThat(summary.p50Ms()).as("seed %d", seed).isEqualTo(nearestRank(values, 50));
      assertThat(summary.p90Ms()).as("seed %d", seed).isEqualTo(nearestRank(values, 90));
      assertThat(summary.p95Ms()).as("seed %d", seed).isEqualTo(nearestRank(values, 95));
      assertThat(summary.p99Ms()).as("seed %d", seed).isEqualTo(nearestRank(values, 99));
      assertThat(summary.maxMs()).isEqualTo((double) values[values.length - 1]);
    }
  }

  @Test
  void nothingHasNoMean() {
    assertThat(new Durations().summary()).isEqualTo(DurationSummary.NONE);
  }

  private static double nearestRank(long[] sorted, int percent) {
    return sorted[(int) Math.ceil(sorted.length * percent / 100.0) - 1];
  }
}
