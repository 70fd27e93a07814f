package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.testing.pool.PoolScenario;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What releases leave behind, in which order it goes, and what clear takes. */
interface EvictionContract extends PoolContract {

  @Test
  default void releasedBlocksAreCachedIfNamedAndFreeIfNot() {
    try (PoolScenario pool = pool(8)) {
      int lease = pool.start(pool.want("ABC").reserving(2));
      pool.commit(lease, "ABC", 0, 2);
      pool.release(lease);
      assertThat(pool.counts()).isEqualTo(List.of(6L, 2L, 0L, 0L));
      assertThat(pool.held("ABC")).isEqualTo(2);
    }
  }

  @Test
  default void aSharedBlockStaysActiveUntilItsLastHolderLeaves() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.hold("AB");
      int second = pool.hold("ABC");
      pool.release(first);
      assertThat(pool.counts()).isEqualTo(List.of(5L, 0L, 3L, 0L));
      pool.release(second);
      assertThat(pool.counts()).isEqualTo(List.of(5L, 3L, 0L, 0L));
    }
  }

  @Test
  default void theDeepestBlocksOfAPromptGoFirst() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("ABCD");
      pool.events();
      pool.start(pool.want("XYZ"));
      assertThat(pool.events()).containsExactly("-ABCD", "-ABC", "-AB");
      assertThat(pool.held("ABCD")).isEqualTo(1);
    }
  }

  @Test
  default void thePromptReleasedLongestAgoGoesFirst() {
    try (PoolScenario pool = pool(4)) {
      int first = pool.hold("AB");
      int second = pool.hold("CD");
      pool.release(second, first);
      pool.events();
      pool.start(pool.want("XYZ"));
      assertThat(pool.events()).containsExactly("-CD", "-C", "-AB");
    }
  }

  @Test
  default void aPrefixIsAsFreshAsItsLastUse() {
    try (PoolScenario pool = pool(6)) {
      pool.cache("AB");
      pool.cache("PQ");
      pool.cache("AC");
      pool.events();
      pool.start(pool.want("UVWXY"));
      assertThat(pool.events()).containsExactly("-AB", "-PQ", "-P", "-AC");
    }
  }

  @Test
  default void activeBlocksAreNeverEvicted() {
    try (PoolScenario pool = pool(5)) {
      pool.hold("AB");
      pool.cache("CD");
      assertThat(pool.lease(pool.want("WXYZ")).missingBlocks(0)).isEqualTo(1);
      pool.start(pool.want("XYZ"));
      assertThat(pool.held("AB")).isEqualTo(2);
      assertThat(pool.counts()).isEqualTo(List.of(0L, 0L, 5L, 0L));
    }
  }

  @Test
  default void freeBlocksAreTakenBeforeAnythingIsEvicted() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      pool.start(pool.want("XY"));
      assertThat(pool.held("AB")).isEqualTo(2);
      assertThat(pool.occupancy().evictedBlocks()).isZero();
      pool.start(pool.want("Z"));
      assertThat(pool.held("AB")).isEqualTo(1);
      assertThat(pool.occupancy().evictedBlocks()).isEqualTo(1);
    }
  }

  @Test
  default void anEvictedPromptCanBeStoredAgain() {
    try (PoolScenario pool = pool(2)) {
      for (int round = 0; round < 20; round++) {
        pool.cache("AB");
        assertThat(pool.held("AB")).isEqualTo(2);
        pool.cache("CD");
        assertThat(pool.held("AB")).isZero();
      }
      assertThat(pool.occupancy().evictedBlocks()).isEqualTo(78);
    }
  }

  @Test
  default void theOldestEvictableTickIsTheNextVictims() {
    try (PoolScenario pool = pool(8)) {
      assertThat(pool.occupancy().oldestEvictableTick()).isZero();
      int first = pool.hold("A");
      assertThat(pool.occupancy().tick()).isEqualTo(1);
      assertThat(pool.occupancy().oldestEvictableTick()).isEqualTo(1);
      int second = pool.hold("B");
      pool.release(second, first);
      assertThat(pool.occupancy().tick()).isEqualTo(4);
      assertThat(pool.occupancy().oldestEvictableTick()).isEqualTo(3);
      pool.hold("B");
      assertThat(pool.occupancy().tick()).isEqualTo(5);
      assertThat(pool.occupancy().oldestEvictableTick()).isEqualTo(4);
    }
  }

  @Test
  default void aBadReleaseIsAnErrorAndNothingOfItHappens() {
    try (PoolScenario pool = pool(8)) {
      int gone = pool.hold("A");
      int lease = pool.hold("B");
      pool.release(gone);
      Occupancy before = pool.occupancy();
      for (int bad : new int[] {gone, lease, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThatIllegalArgumentException().isThrownBy(() -> pool.release(lease, bad));
        assertThat(pool.occupancy()).isEqualTo(before);
      }
      pool.release(lease);
    }
  }

  @Test
  default void clearFreesCachedBlocksAndUnnamesActiveOnes() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("AB");
      int lease = pool.hold("CD");
      List<Integer> table = pool.table(lease);
      long tick = pool.occupancy().tick();
      pool.pool().clear();
      assertThat(pool.counts()).isEqualTo(List.of(6L, 0L, 2L, 0L));
      assertThat(pool.occupancy().tick()).isEqualTo(tick);
      assertThat(pool.occupancy().evictedBlocks()).isZero();
      assertThat(pool.held("AB") + pool.held("CD")).isZero();
      assertThat(pool.table(lease)).isEqualTo(table);
      pool.release(lease);
      assertThat(pool.counts()).isEqualTo(List.of(8L, 0L, 0L, 0L));
    }
  }

  @Test
  default void leasesOlderThanAClearNameNothingMore() {
    try (PoolScenario pool = pool(12)) {
      int old = pool.start(pool.want("ABCD"));
      pool.commit(old, "ABCD", 0, 2);
      pool.pool().clear();
      pool.events();
      pool.commit(old, "ABCD", 2, 3);
      pool.commit(old, "ABCD", 3, 4);
      assertThat(pool.events()).isEmpty();
      int fresh = pool.hold("ABCD");
      assertThat(pool.events()).containsExactly("+A", "+AB", "+ABC", "+ABCD");
      assertThat(pool.table(fresh)).doesNotContainAnyElementsOf(pool.table(old));
      pool.release(old);
      assertThat(pool.counts()).isEqualTo(List.of(8L, 0L, 4L, 0L));
      assertThat(pool.held("ABCD")).isEqualTo(4);
    }
  }

  @Test
  default void reservationsSurviveAClear() {
    try (PoolScenario pool = pool(6)) {
      int lease = pool.start(pool.want("A").reserving(3));
      pool.pool().clear();
      assertThat(pool.counts()).isEqualTo(List.of(5L, 0L, 1L, 3L));
      assertThat(pool.extend(lease, 3).granted(0)).isTrue();
    }
  }
}
