package io.kvasir.engine.pool;

import static io.kvasir.engine.pool.LeaseBatch.REFUSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.Prompt;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Admission, refusal and allocation. */
interface LeaseContract extends PoolContract {

  @Test
  default void aColdRequestGetsDistinctNewBlocks() {
    try (PoolScenario pool = pool(8)) {
      LeaseBatch batch = pool.lease(pool.want("ABC"));
      assertThat(batch.matchedBlocks(0)).isZero();
      assertThat(batch.missingBlocks(0)).isZero();
      assertThat(pool.table(batch.lease(0))).hasSize(3).doesNotHaveDuplicates();
      assertThat(pool.table(batch.lease(0))).allMatch(block -> block >= 0 && block < 8);
      assertThat(pool.counts()).isEqualTo(List.of(5L, 0L, 3L, 0L));
    }
  }

  @Test
  default void theLongestPrefixThatFitsIsAdmitted() {
    try (PoolScenario pool = pool(6)) {
      LeaseBatch batch =
          pool.lease(pool.want("ABC"), pool.want("DEFG"), pool.want("H"), pool.want("IJ"));
      assertThat(batch.lease(0)).isNotEqualTo(REFUSED);
      assertThat(List.of(batch.lease(1), batch.lease(2), batch.lease(3))).containsOnly(REFUSED);
      assertThat(batch.missingBlocks(0)).isZero();
      assertThat(batch.missingBlocks(1)).isEqualTo(1);
      assertThat(batch.missingBlocks(2)).isEqualTo(2);
      assertThat(batch.missingBlocks(3)).isEqualTo(4);
      assertThat(pool.occupancy().tick()).isEqualTo(1);
    }
  }

  @Test
  default void aRefusedRequestLeavesNoTrace() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("A");
      pool.cache("B");
      pool.events();
      Occupancy before = pool.occupancy();
      LeaseBatch batch = pool.lease(pool.want("A").andNew(4));
      assertThat(batch.lease(0)).isEqualTo(REFUSED);
      assertThat(batch.matchedBlocks(0)).isZero();
      assertThat(batch.missingBlocks(0)).isEqualTo(1);
      assertThat(pool.occupancy()).isEqualTo(before);
      assertThat(pool.held("A")).isEqualTo(1);
      pool.start(pool.want("XYZ"));
      assertThat(pool.events()).containsExactly("-A");
    }
  }

  @Test
  default void whatRefusedRequestsMatchIsNotAvailableToOthersOfTheBatch() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      pool.cache("CD");
      LeaseBatch batch = pool.lease(pool.want("XYZ"), pool.want("AB").andNew(8));
      assertThat(batch.lease(0)).isEqualTo(REFUSED);
      assertThat(batch.missingBlocks(0)).isEqualTo(1);
      assertThat(batch.missingBlocks(1)).isEqualTo(9);
    }
  }

  @Test
  default void whatRefusedRequestsMatchIsEvictedInItsTurn() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      pool.cache("CD");
      pool.events();
      LeaseBatch batch = pool.lease(pool.want("XY"), pool.want("AB").andNew(1));
      assertThat(batch.lease(0)).isNotEqualTo(REFUSED);
      assertThat(batch.lease(1)).isEqualTo(REFUSED);
      assertThat(pool.events()).containsExactly("-AB", "-A");
    }
  }

  @Test
  default void whatAdmittedRequestsMatchIsNotEvicted() {
    try (PoolScenario pool = pool(5)) {
      pool.cache("AB");
      pool.cache("CD");
      pool.events();
      LeaseBatch batch = pool.lease(pool.want("XY"), pool.want("AB").andNew(1));
      assertThat(batch.matchedBlocks(1)).isEqualTo(2);
      assertThat(pool.events()).containsExactly("-CD", "-C");
      assertThat(pool.counts()).isEqualTo(List.of(0L, 0L, 5L, 0L));
    }
  }

  @Test
  default void aRequestThatFindsNoFreeLeaseIsRefusedWithNothingMissing() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(8, 2, 10)))) {
      LeaseBatch batch = pool.lease(pool.want("A"), pool.want("B"), pool.want("C"));
      assertThat(batch.lease(2)).isEqualTo(REFUSED);
      assertThat(batch.missingBlocks(2)).isZero();
      assertThat(pool.counts()).isEqualTo(List.of(6L, 0L, 2L, 0L));
      pool.release(batch.lease(0));
      assertThat(pool.lease(pool.want("C")).lease(0)).isNotEqualTo(REFUSED);
    }
  }

  @Test
  default void reservedBlocksArePromisedToNobodyElse() {
    try (PoolScenario pool = pool(6)) {
      pool.start(pool.want("AB").reserving(3));
      assertThat(pool.counts()).isEqualTo(List.of(4L, 0L, 2L, 3L));
      assertThat(pool.occupancy().availableBlocks()).isEqualTo(1);
      assertThat(pool.lease(pool.want("XY")).missingBlocks(0)).isEqualTo(1);
      assertThat(pool.lease(pool.want("X").reserving(1)).missingBlocks(0)).isEqualTo(1);
      assertThat(pool.lease(pool.want("X")).missingBlocks(0)).isZero();
    }
  }

  @Test
  default void sharingACachedBlockMustNotBreakAPromise() {
    try (PoolScenario pool = pool(4)) {
      pool.cache("AB");
      pool.start(pool.want("X").reserving(3));
      LeaseBatch batch = pool.lease(pool.want("AB"));
      assertThat(batch.lease(0)).isEqualTo(REFUSED);
      assertThat(batch.missingBlocks(0)).isEqualTo(2);
    }
  }

  @Test
  default void anOversizedRequestIsAnErrorAndNothingOfItsBatchHappens() {
    try (PoolScenario pool = pool(32)) {
      pool.cache("AB");
      Occupancy before = pool.occupancy();
      PoolScenario.Want oversized = pool.want("AB").ofBlocks(PoolScenario.MAX_BLOCKS_PER_LEASE + 1);
      assertThatIllegalArgumentException().isThrownBy(() -> pool.lease(pool.want("AB"), oversized));
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  @Test
  default void tokensThatDoNotCoverTheMatchableBlocksAreAnError() {
    try (PoolScenario pool = pool(8)) {
      Prompt prompt = pool.prompt("AB");
      int[] tokens = Arrays.copyOf(prompt.tokens(), prompt.tokens().length - 1);
      Prompt cut = new Prompt(tokens, prompt.names(), prompt.scope());
      Occupancy before = pool.occupancy();
      assertThatIllegalArgumentException().isThrownBy(() -> pool.lease(pool.want(cut)));
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  @Test
  default void countsBeyondIntAreAnsweredExactly() {
    try (PoolScenario pool = pool(6)) {
      PoolScenario.Want huge = pool.want("AB").reserving(Integer.MAX_VALUE);
      LeaseBatch batch = pool.lease(huge, huge, huge);
      assertThat(batch.missingBlocks(2)).isEqualTo(3 * (2L + Integer.MAX_VALUE) - 6);
      assertThat(pool.counts()).isEqualTo(List.of(6L, 0L, 0L, 0L));
    }
  }

  @Test
  default void aBatchMayBeLarge() {
    try (PoolScenario pool = new PoolScenario(create(PoolScenario.shape(300, 200, 1_000)))) {
      PoolScenario.Want[] wants = new PoolScenario.Want[150];
      for (int i = 0; i < wants.length; i++) {
        wants[i] = pool.want("A" + (char) ('B' + i));
      }
      LeaseBatch batch = pool.lease(wants);
      assertThat(batch.lease(149)).isNotEqualTo(REFUSED);
      assertThat(pool.counts()).isEqualTo(List.of(0L, 0L, 300L, 0L));
    }
  }
}
