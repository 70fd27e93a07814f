package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.testing.pool.PoolScenario;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Growth of leases and what was reserved for it. */
interface ExtendContract extends PoolContract {

  @Test
  default void newBlocksAreAppended() {
    try (PoolScenario pool = pool(8)) {
      int lease = pool.start(pool.want("AB"));
      List<Integer> before = pool.table(lease);
      ExtendBatch batch = pool.extend(lease, 3);
      assertThat(batch.granted(0)).isTrue();
      assertThat(pool.table(lease)).hasSize(5).doesNotHaveDuplicates();
      assertThat(pool.table(lease).subList(0, 2)).isEqualTo(before);
      assertThat(pool.counts()).isEqualTo(List.of(3L, 0L, 5L, 0L));
    }
  }

  @Test
  default void aGrantAdvancesTheTickAndARefusalDoesNot() {
    try (PoolScenario pool = pool(4)) {
      int first = pool.start(pool.want("A"));
      int second = pool.start(pool.want("B"));
      assertThat(pool.extend(first, 1, second, 2).granted(1)).isFalse();
      assertThat(pool.occupancy().tick()).isEqualTo(3);
    }
  }

  @Test
  default void theOwnReservationIsUsedFirst() {
    try (PoolScenario pool = pool(6)) {
      int lease = pool.start(pool.want("A").reserving(2));
      pool.start(pool.want("XY"));
      assertThat(pool.occupancy().availableBlocks()).isEqualTo(1);
      pool.extend(lease, 1);
      assertThat(pool.counts()).isEqualTo(List.of(2L, 0L, 4L, 1L));
      assertThat(pool.extend(lease, 2).granted(0)).isTrue();
      assertThat(pool.counts()).isEqualTo(List.of(0L, 0L, 6L, 0L));
    }
  }

  @Test
  default void theLongestPrefixWhoseRemaindersFitIsGranted() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.start(pool.want("A").reserving(1));
      int second = pool.start(pool.want("B"));
      int third = pool.start(pool.want("C"));
      // 5 free, 1 of them reserved
      ExtendBatch batch = pool.extend(first, 3, second, 3, third, 1);
      assertThat(batch.granted(0)).isTrue();
      assertThat(batch.granted(1)).isFalse();
      assertThat(batch.missingBlocks(1)).isEqualTo(1);
      assertThat(batch.granted(2)).isFalse();
      assertThat(batch.missingBlocks(2)).isEqualTo(2);
      assertThat(pool.table(second)).hasSize(1);
      assertThat(pool.table(third)).hasSize(1);
    }
  }

  @Test
  default void whatAReservationCoversIsGrantedEvenBehindARefusal() {
    try (PoolScenario pool = pool(5)) {
      int first = pool.start(pool.want("A"));
      int second = pool.start(pool.want("B").reserving(2));
      ExtendBatch batch = pool.extend(first, 2, second, 2);
      assertThat(batch.granted(0)).isFalse();
      assertThat(batch.missingBlocks(0)).isEqualTo(1);
      assertThat(batch.granted(1)).isTrue();
      assertThat(pool.table(second)).hasSize(3);
      assertThat(pool.counts()).isEqualTo(List.of(1L, 0L, 4L, 0L));
    }
  }

  @Test
  default void aRefusedExtensionKeepsItsReservation() {
    try (PoolScenario pool = pool(4)) {
      int lease = pool.start(pool.want("A").reserving(2));
      Occupancy before = pool.occupancy();
      assertThat(pool.extend(lease, 4).missingBlocks(0)).isEqualTo(1);
      assertThat(pool.occupancy()).isEqualTo(before);
      assertThat(pool.extend(lease, 2).granted(0)).isTrue();
    }
  }

  @Test
  default void theShortfallIsEvictedOnceForTheBatch() {
    try (PoolScenario pool = pool(7)) {
      pool.cache("ABC");
      int first = pool.start(pool.want("X"));
      int second = pool.start(pool.want("Y"));
      pool.events();
      ExtendBatch batch = pool.extend(first, 2, second, 2);
      assertThat(batch.granted(0) && batch.granted(1)).isTrue();
      assertThat(pool.events()).containsExactly("-ABC", "-AB");
      assertThat(pool.held("ABC")).isEqualTo(1);
      assertThat(pool.counts()).isEqualTo(List.of(0L, 1L, 6L, 0L));
    }
  }

  @Test
  default void aReservationMayBeServedByEviction() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("ABC");
      int lease = pool.start(pool.want("X").reserving(3));
      assertThat(pool.extend(lease, 3).granted(0)).isTrue();
      assertThat(pool.held("ABC")).isZero();
    }
  }

  @Test
  default void aLeaseThatWouldOutgrowItsTableIsAnErrorAndNothingHappens() {
    try (PoolScenario pool = pool(32)) {
      int first = pool.start(pool.want("A"));
      int second = pool.start(pool.want("B"));
      Occupancy before = pool.occupancy();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pool.extend(first, 1, second, PoolScenario.MAX_BLOCKS_PER_LEASE));
      assertThatIllegalArgumentException().isThrownBy(() -> pool.extend(first, Integer.MAX_VALUE));
      assertThat(pool.occupancy()).isEqualTo(before);
      assertThat(pool.table(first)).hasSize(1);
      assertThat(pool.extend(first, PoolScenario.MAX_BLOCKS_PER_LEASE - 1).granted(0)).isTrue();
    }
  }

  @Test
  default void anUnknownOrRepeatedLeaseIsAnErrorAndNothingHappens() {
    try (PoolScenario pool = pool(8)) {
      int gone = pool.start(pool.want("A"));
      int lease = pool.start(pool.want("B"));
      pool.release(gone);
      Occupancy before = pool.occupancy();
      for (int unknown : new int[] {gone, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThatIllegalArgumentException().isThrownBy(() -> pool.extend(lease, 1, unknown, 1));
      }
      assertThatIllegalArgumentException().isThrownBy(() -> pool.extend(lease, 1, lease, 1));
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }
}
