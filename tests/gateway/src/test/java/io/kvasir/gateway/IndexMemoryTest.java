package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The memory for indexes, shared among models. */
class IndexMemoryTest {

  @Test
  void allModelsTogetherHaveOneBound() {
    long total = 8L << 30;
    IndexMemory memory = new IndexMemory(total);
    long first = memory.take("a", 2);
    assertThat(first).as("each of two indexes of the first model").isEqualTo(total / 4);
    long taken = 2 * first;
    assertThat(memory.take("a", 2)).as("the same model again").isEqualTo(first);
    for (int model = 1; model < 6; model++) {
      taken += memory.take("b" + model, 1);
    }
    assertThat(taken).isLessThanOrEqualTo(total);
    for (int model = 0; model < 100; model++) {
      assertThat(memory.take("c" + model, 1)).isGreaterThanOrEqualTo(IndexMemory.MIN_BYTES);
    }
    assertThat(memory.take("d", 2)).isEqualTo(IndexMemory.MIN_BYTES);
  }
}
