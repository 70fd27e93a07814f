package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.CacheScope;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.Prompt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a lease shares with what the pool holds, and what it must not. */
interface MatchContract extends PoolContract {

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
}
