package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.testing.pool.PoolScenario;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Probes, block tables, occupancy, and the end of a pool's life. */
interface ReadContract extends PoolContract {

  @Test
  default void aNewPoolIsFree() {
    PoolShape shape = PoolScenario.shape(5, 2, 3);
    try (BlockPool pool = create(shape)) {
      assertThat(pool.shape()).isEqualTo(shape);
      assertThat(pool.occupancy()).isEqualTo(new Occupancy(5, 5, 0, 0, 0, 0, 0, 0));
    }
  }

  @Test
  default void aProbeAnswersEachPromptFromTheOffsetOn() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("ABC");
      ProbeBatch batch = new ProbeBatch();
      batch.add(pool.prompt("ABX").names(), 3);
      batch.add(pool.prompt("X").names(), 1);
      batch.add(new long[0], 0);
      batch.add(pool.prompt("ABCD").names(), 4);
      batch.add(pool.prompt("ABC").names(), 1);
      int[] matched = {9, 9, 9, 9, 9, 9, 9, 9};
      pool.pool().probe(batch, matched, 2);
      assertThat(matched).containsExactly(9, 9, 2, 0, 0, 3, 1, 9);
    }
  }

  @Test
  default void aProbeNeedsRoomForItsAnswers() {
    try (PoolScenario pool = pool(4)) {
      ProbeBatch batch = new ProbeBatch();
      batch.add(pool.prompt("A").names(), 1);
      batch.add(pool.prompt("B").names(), 1);
      for (int offset : new int[] {1, -1, 2, Integer.MAX_VALUE}) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
            .isThrownBy(() -> pool.pool().probe(batch, new int[2], offset));
      }
    }
  }

  @Test
  default void anEmptyProbeWritesNothing() {
    try (PoolScenario pool = pool(8)) {
      int[] matched = {9};
      pool.pool().probe(new ProbeBatch(), matched, 1);
      assertThat(matched).containsExactly(9);
    }
  }

  @Test
  default void aProbeHasNoSideEffects() {
    try (PoolScenario pool = pool(2)) {
      pool.cache("A");
      pool.cache("B");
      pool.events();
      Occupancy before = pool.occupancy();
      assertThat(pool.held("A")).isEqualTo(1);
      assertThat(pool.occupancy()).isEqualTo(before);
      pool.start(pool.want("X"));
      assertThat(pool.events()).containsExactly("-A");
    }
  }

  @Test
  default void aProbeFindsEveryLengthOfAPrompt() {
    try (PoolScenario pool = pool(10)) {
      for (int length = 1; length <= 10; length++) {
        int lease = pool.start(pool.want("ABCDEFGHIJ").matchingAtMost(length - 1));
        pool.commit(lease, "ABCDEFGHIJ", length - 1, length);
        pool.release(lease);
        assertThat(pool.held("ABCDEFGHIJ")).isEqualTo(length);
      }
    }
  }

  @Test
  default void emptyBatchesChangeNothing() {
    try (PoolScenario pool = pool(4)) {
      Occupancy before = pool.occupancy();
      pool.lease();
      pool.extend();
      pool.pool().commit(new CommitBatch());
      pool.release();
      assertThat(pool.occupancy()).isEqualTo(before);
      assertThat(pool.events()).isEmpty();
    }
  }

  @Test
  default void onlyTheCountedLeasesAreReleased() {
    try (PoolScenario pool = pool(4)) {
      int first = pool.start(pool.want("A"));
      int second = pool.start(pool.want("B"));
      pool.pool().release(new int[] {first, second}, 1);
      assertThat(pool.table(second)).hasSize(1);
      assertThatIllegalArgumentException().isThrownBy(() -> pool.table(first));
    }
  }

  @Test
  default void aCountBeyondTheArrayReleasesNothing() {
    try (PoolScenario pool = pool(4)) {
      int lease = pool.start(pool.want("A"));
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> pool.pool().release(new int[] {lease}, 2));
      assertThat(pool.table(lease)).hasSize(1);
    }
  }

  @Test
  default void aBlockTableNeedsALeaseAndRoom() {
    try (PoolScenario pool = pool(4)) {
      int lease = pool.start(pool.want("AB"));
      int[] table = {9, 9, 9};
      assertThat(pool.pool().blockTable(lease, table)).isEqualTo(2);
      assertThat(table[2]).isEqualTo(9);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pool.pool().blockTable(lease, new int[1]));
      for (int unknown : new int[] {lease + 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> pool.pool().blockTable(unknown, table));
      }
    }
  }

  @Test
  default void aClosedPoolRefusesEverythingButClose() {
    PoolScenario pool = pool(4);
    int lease = pool.hold("AB");
    pool.close();
    pool.close();
    List<Runnable> uses =
        List.of(
            () -> pool.held("AB"),
            () -> pool.lease(pool.want("AB")),
            () -> pool.extend(lease, 1),
            () -> pool.commit(lease, "AB", 0, 1),
            () -> pool.release(lease),
            () -> pool.pool().clear(),
            pool::events,
            pool::occupancy,
            () -> pool.table(lease));
    for (Runnable use : uses) {
      assertThatIllegalStateException().isThrownBy(use::run);
    }
  }
}
