package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LoadOverTimeTest {

  private static final long MS = 1_000_000;

  @Test
  void sharesAreThoseOfTheirPartOfTheTime() {
    LoadOverTime.Builder load = new LoadOverTime.Builder();
    load.add(0, 25 * MS);
    load.add(75 * MS, 25 * MS);
    assertThat(load.build().shares(4, 100 * MS))
        .containsExactly(new double[] {1, 0, 0, 1}, within(1e-9));
    assertThat(load.build().shares(2, 100 * MS))
        .containsExactly(new double[] {0.5, 0.5}, within(1e-9));
  }

  @Test
  void whatIsAddedIsKeptHoweverLongTheReplay() {
    LoadOverTime.Builder load = new LoadOverTime.Builder();
    SplittableRandom random = new SplittableRandom(5);
    long nowNs = 0;
    long busyNs = 0;
    for (int step = 0; step < 20_000; step++) {
      long durationNs = random.nextLong(40 * MS);
      load.add(nowNs, durationNs);
      busyNs += durationNs;
      nowNs += durationNs + random.nextLong(40 * MS);
    }
    LoadOverTime built = load.build();
    assertThat(built.busyNs()).hasSizeBetween(128, 256);
    assertThat(built.busyNs().stream().mapToLong(Long::longValue).sum()).isEqualTo(busyNs);
    double[] shares = built.shares(50, nowNs);
    assertThat(Arrays.stream(shares).average().orElse(0))
        .isCloseTo((double) busyNs / nowNs, within(0.005));
    assertThat(Arrays.stream(shares).boxed()).allMatch(share -> share >= 0 && share <= 1.001);
  }

  @Test
  void aRankThatDidNothingHasNoLoad() {
    assertThat(new LoadOverTime.Builder().build().shares(3, 9)).containsExactly(0, 0, 0);
  }
}
