package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Two ways are both tried, then the faster one is taken, and the other is not forgotten. */
class PathTimingsTest {

  private static final int SLOW = 0;
  private static final int FAST = 1;

  private final PathTimings ways = new PathTimings();

  /** How often way {@link #FAST} was chosen. */
  private int choose(int times, int batchSize, long slowNs, long fastNs) {
    int chosen = 0;
    for (int i = 0; i < times; i++) {
      int way = ways.choose(batchSize);
      ways.record(way, batchSize, way == SLOW ? slowNs : fastNs);
      chosen += way == FAST ? 1 : 0;
    }
    return chosen;
  }

  @Test
  void takesTheFasterWayOnceBothWereTried() {
    assertThat(choose(2, 100, 900, 300)).isOne();
    assertThat(choose(60, 100, 900, 300)).isEqualTo(60);
  }

  @Test
  void triesTheSlowerWayAgainNowAndThen() {
    int chosen = choose(1_000, 100, 900, 300);

    assertThat(chosen).isBetween(950, 999);
  }

  @Test
  void followsAWayThatBecomesSlow() {
    choose(100, 100, 900, 300);

    choose(20, 100, 900, 5_000);

    assertThat(choose(50, 100, 900, 5_000)).isLessThan(3);
    assertThat(choose(1_000, 100, 900, 5_000)).as("tried again").isPositive();
  }

  @Test
  void learnsForEachSizeOfBatch() {
    choose(10, 100, 900, 300);
    choose(10, 10, 300, 900);

    assertThat(choose(20, 127, 900, 300)).isEqualTo(20);
    assertThat(choose(20, 15, 300, 900)).isZero();
  }

  @Test
  void theCrossoverIsTheSizeFromWhichOnTheSecondWayIsFaster() {
    assertThat(ways.crossover()).isEqualTo(-1);
    choose(4, 1, 300, 900);
    choose(4, 64, 900, 1_000);
    choose(4, 128, 1_800, 1_000);
    choose(4, 1_000, 9_000, 1_000);

    assertThat(ways.crossover()).isEqualTo(128);

    choose(2_000, 1_000, 500, 1_000);
    assertThat(ways.crossover()).as("the largest size is slower").isEqualTo(-1);
  }

  @Test
  void anEmptyBatchHasASizeToo() {
    assertThat(choose(20, 0, 900, 300)).isEqualTo(19);
  }
}
