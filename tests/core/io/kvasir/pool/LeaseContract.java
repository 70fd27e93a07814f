package io.kvasir.pool;

import static io.kvasir.pool.LeaseBatch.REFUSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.CacheScope;
import io.kvasir.model.Occupancy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Matching, admission, refusal and allocation. */
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
  default void aCachedPrefixIsSharedAndTheRestIsNew() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.hold("ABC");
      List<Integer> blocks = pool.table(first);
      pool.release(first);
      LeaseBatch batch = pool.lease(pool.want("ABX"));
      assertThat(batch.matchedBlocks(0)).isEqualTo(2);
      assertThat(pool.table(batch.lease(0)).subList(0, 2)).isEqualTo(blocks.subList(0, 2));
      assertThat(pool.table(batch.lease(0)).get(2)).isNotEqualTo(blocks.get(2));
      assertThat(pool.counts()).isEqualTo(List.of(4L, 1L, 3L, 0L));
    }
  }

  @Test
  default void aRunningRequestsPrefixIsShared() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.hold("AB");
      LeaseBatch batch = pool.lease(pool.want("ABC"));
      assertThat(batch.matchedBlocks(0)).isEqualTo(2);
      assertThat(pool.table(batch.lease(0))).startsWith(pool.table(first).toArray(new Integer[0]));
      assertThat(pool.counts()).isEqualTo(List.of(5L, 0L, 3L, 0L));
    }
  }

  @Test
  default void blocksThatAreNotCommittedAreNotShared() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.start(pool.want("AB"));
      pool.commit(first, "AB", 0, 1);
      assertThat(pool.lease(pool.want("AB")).matchedBlocks(0)).isEqualTo(1);
    }
  }

  @Test
  default void noMoreIsSharedThanTheRequestAllows() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("ABC");
      assertThat(pool.lease(pool.want("ABC").matchingAtMost(2)).matchedBlocks(0)).isEqualTo(2);
      assertThat(pool.lease(pool.want("ABC").matchingAtMost(0)).matchedBlocks(0)).isZero();
    }
  }

  @Test
  default void noMoreIsSharedThanTheTableIsLong() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("ABC");
      LeaseBatch batch = pool.lease(pool.want("ABC").ofBlocks(2));
      assertThat(batch.matchedBlocks(0)).isEqualTo(2);
      assertThat(pool.table(batch.lease(0))).hasSize(2);
    }
  }

  @Test
  default void otherTokensUnderTheSameNameAreNotShared() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("ABC");
      Prompt foreign = pool.prompt("AXC").named(pool.prompt("ABC").names());
      assertThat(pool.held(foreign)).isEqualTo(3);
      assertThat(pool.lease(pool.want(foreign)).matchedBlocks(0)).isEqualTo(1);
    }
  }

  @Test
  default void everyTokenOfABlockIsCompared() {
    for (int position = 0; position < PoolScenario.TOKENS_PER_BLOCK; position++) {
      try (PoolScenario pool = pool(8)) {
        pool.cache("AB");
        Prompt prompt = pool.prompt("AB");
        int[] tokens = prompt.tokens().clone();
        tokens[PoolScenario.TOKENS_PER_BLOCK + position] ^= Integer.MIN_VALUE;
        Prompt foreign = new Prompt(tokens, prompt.names(), prompt.scope());
        assertThat(pool.lease(pool.want(foreign)).matchedBlocks(0)).isEqualTo(1);
      }
    }
  }

  @Test
  default void blocksOfAnotherScopeUnderTheSameNameAreNotShared() {
    List<CacheScope> scopes =
        List.of(
            CacheScope.NONE,
            CacheScope.NONE.withLora(0),
            CacheScope.NONE.withLora(1),
            CacheScope.NONE.withLora(1L << 32),
            CacheScope.NONE.withSalt("a"),
            CacheScope.NONE.withSalt("b"),
            CacheScope.NONE.withSalt("a").withLora(1),
            new CacheScope(false, 0, true, 0),
            new CacheScope(false, 0, true, 1));
    for (CacheScope mine : scopes) {
      for (CacheScope yours : scopes) {
        try (PoolScenario pool = pool(8)) {
          pool.release(pool.hold(pool.prompt("AB").in(mine)));
          LeaseBatch batch = pool.lease(pool.want(pool.prompt("AB").in(yours)));
          assertThat(batch.matchedBlocks(0))
              .as("%s finds blocks of %s", yours, mine)
              .isEqualTo(mine.equals(yours) ? 2 : 0);
        }
      }
    }
  }

  @Test
  default void equalTokensBehindAnotherParentAreNotShared() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("AZ");
      pool.cache("B");
      Prompt foreign = pool.prompt("BZ").named(pool.name("B"), pool.name("AZ"));
      assertThat(pool.lease(pool.want(foreign)).matchedBlocks(0)).isEqualTo(1);
    }
  }

  @Test
  default void aLaterBlocksNameIsNoMatchForAFirstBlock() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("AZ");
      Prompt foreign = pool.prompt("Z").named(pool.name("AZ"));
      assertThat(pool.lease(pool.want(foreign)).matchedBlocks(0)).isZero();
    }
  }

  @Test
  default void siblingsInABatchShareOnlyWhatWasThereBefore() {
    try (PoolScenario pool = pool(12)) {
      pool.cache("AB");
      LeaseBatch batch = pool.lease(pool.want("ABC"), pool.want("ABC"), pool.want("ABD"));
      for (int i = 0; i < 3; i++) {
        assertThat(batch.matchedBlocks(i)).isEqualTo(2);
      }
      assertThat(pool.counts()).isEqualTo(List.of(7L, 0L, 5L, 0L));
      assertThat(pool.table(batch.lease(0)).subList(0, 2))
          .isEqualTo(pool.table(batch.lease(2)).subList(0, 2));
      assertThat(batch.lease(0)).isNotEqualTo(batch.lease(1));
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
      PoolScenario.Want oversized =
          pool.want("AB").ofBlocks(PoolScenario.MAX_BLOCKS_PER_LEASE + 1);
      assertThatIllegalArgumentException().isThrownBy(() -> pool.lease(pool.want("AB"), oversized));
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  @Test
  default void tokensThatDoNotCoverTheMatchableBlocksAreAnError() {
    try (PoolScenario pool = pool(8)) {
      Prompt prompt = pool.prompt("AB");
      int[] tokens = java.util.Arrays.copyOf(prompt.tokens(), prompt.tokens().length - 1);
      Prompt cut = new Prompt(tokens, prompt.names(), prompt.scope());
      Occupancy before = pool.occupancy();
      assertThatIllegalArgumentException().isThrownBy(() -> pool.lease(pool.want(cut)));
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }
}
