package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.CacheScope;
import org.junit.jupiter.api.Test;

/** Sizes beyond what the native pool or its staging can take are refused by name. */
class NativeMemoryLimitsTest {

  private static final int LARGE = PoolShape.MAX_TOKENS_PER_BLOCK;

  @Test
  void shapesNameTheFieldAndTheRange() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PoolShape(1, LARGE + 1, 1, 1, 0))
        .withMessage("tokensPerBlock must be within 1 to 65536, not 65537");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PoolShape(1, 0, 1, 1, 0))
        .withMessage("tokensPerBlock must be within 1 to 65536, not 0");
  }

  @Test
  void aLeaseBeyondTheTableNamesTheLimit() {
    try (NativeBlockPool pool = NativeBlockPool.create(new PoolShape(8, 1, 2, 3, 0))) {
      LeaseBatch batch = new LeaseBatch();
      batch.add(new int[0], new long[0], CacheScope.NONE, 0, 4, 0);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pool.lease(batch))
          .withMessage(
              "entry 0 of the batch: its lease must have at most maxBlocksPerLease, 3 blocks");
    }
  }

  @Test
  void aBatchThatIsTooLargeToStageChangesNothing() {
    PoolShape shape = new PoolShape(4, LARGE, 4, 8_192, 0);
    try (NativeBlockPool pool = NativeBlockPool.create(shape)) {
      int[] tokens = new int[4 * LARGE];
      LeaseBatch batch = new LeaseBatch();
      for (int i = 0; i < 2_048; i++) {
        batch.add(tokens, new long[4], CacheScope.NONE, 4, 4, 0);
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pool.lease(batch))
          .withMessage("a batch must have at most 8191 blocks of 65536 tokens, not 8192");
      assertThat(pool.occupancy().freeBlocks()).isEqualTo(4);
      batch.clear();
      batch.add(tokens, new long[4], CacheScope.NONE, 4, 4, 0);
      pool.lease(batch);
      assertThat(batch.lease(0)).isNotEqualTo(LeaseBatch.REFUSED);
    }
  }
}
