package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProbeBatchTest {

  @ParameterizedTest
  @ValueSource(ints = {-1, 4, 300, Integer.MAX_VALUE})
  void aWrongNumberOfBlocksChangesNothing(int blocks) {
    ProbeBatch batch = new ProbeBatch();
    batch.add(new long[] {1, 2}, 2);
    long hashes = batch.hashesAddress();

    assertThatThrownBy(() -> batch.add(new long[] {3, 4, 5}, blocks))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(batch.hashesAddress()).as("no growth").isEqualTo(hashes);
    assertThat(batch.size()).isEqualTo(1);
    assertThat(batch.add(new long[] {3, 4, 5}, 3)).isEqualTo(1);
    assertThat(batch.hashes()).containsExactly(1, 2, 3, 4, 5);
    assertThat(batch.offsets()).containsExactly(0, 2, 5);
  }
}
