package io.kvasir.benchmarks.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A short soak; {@code kvasir bench index --soak} runs a long one. */
class IndexSoakTest {

  private static final long BLOCK_EVENTS = 3_000_000;

  @ParameterizedTest
  @EnumSource(IndexKind.class)
  void churningWorkersLeaveNothingBehind(IndexKind kind) {
    long seed = Long.getLong("kvasir.test.seed", 20);
    SoakFigures figures = new IndexSoak(seed, BLOCK_EVENTS).run(kind);
    assertThat(figures.blockEvents()).as("seed %d", seed).isGreaterThanOrEqualTo(BLOCK_EVENTS);
    assertThat(figures.churned()).isGreaterThan(20);
    assertThat(figures.answers()).isGreaterThan(1_000);
    assertThat(figures.checkpoints()).hasSize(20);
    assertThat(figures.growth()).as("seed %d", seed).isLessThan(1.25);
  }

  @Test
  void aSoakHasAnEnd() {
    assertThatThrownBy(() -> new IndexSoak(1, 0))
        .hasMessage("blockEvents must be at least 1, not 0");
  }
}
