package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.pool.PoolScenario;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A pool with groups. Without any, it is held to the contract of the pool below it. */
class HybridBlockPoolTest extends BlockPoolContract {

  private static final int WINDOW_OF_TWO_BLOCKS = 2 * PoolScenario.TOKENS_PER_BLOCK + 1;

  @Override
  public BlockPool create(PoolShape shape) {
    return new HybridBlockPool(NativeBlockPool.create(shape), List.of());
  }

  private static PoolScenario hybrid(int blocks, PoolGroup... groups) {
    PoolShape shape = PoolScenario.shape(blocks, 8, 1_000);
    return new PoolScenario(new HybridBlockPool(NativeBlockPool.create(shape), List.of(groups)));
  }

  @Test
  void whatNoStateEndsAtIsComputedAgain() {
    PoolGroup everyThreeBlocks = PoolGroup.states(3 * PoolScenario.TOKENS_PER_BLOCK);
    try (PoolScenario pool = hybrid(20, everyThreeBlocks)) {
      pool.cache("ABCDEFGH");
      assertThat(pool.held("ABCDEFGH")).isEqualTo(6);
      assertThat(pool.held("ABCDE")).isEqualTo(3);
      assertThat(pool.held("AB")).isZero();
      LeaseBatch batch = pool.lease(pool.want("ABCDEX"));
      assertThat(batch.matchedBlocks(0)).isEqualTo(3);
      pool.commit(batch.lease(0), "ABCDEX", 3, 6);
      assertThat(pool.occupancy().activeBlocks()).isEqualTo(6);
      pool.release(batch.lease(0));
      assertThat(pool.held("ABCDEX")).isEqualTo(6);
      assertThat(pool.held("ABCDEFGH")).isEqualTo(6);
      assertThat(pool.occupancy().cachedBlocks()).isEqualTo(9);
    }
  }

  @Test
  void whatAWindowHasLeftIsEvictedFirst() {
    try (PoolScenario pool = hybrid(6, PoolGroup.window(WINDOW_OF_TWO_BLOCKS))) {
      int running = pool.start(pool.want("ABCD"));
      pool.commit(running, "ABCD", 0, 4);
      pool.cache("XY");
      assertThat(pool.held("AB")).isEqualTo(2);
      pool.cache("UV"); // the pool evicts X and Y, the window the older B and A
      assertThat(pool.held("AB")).isZero();
      assertThat(pool.held("ABC")).isZero();
      assertThat(pool.held("ABCD")).isEqualTo(4);
      assertThat(pool.held("UV")).isEqualTo(2);
      pool.release(running);
    }
  }

  @Test
  void aClearedPoolKeepsNothingOfWhatIsRunning() {
    try (PoolScenario pool = hybrid(8, PoolGroup.states(0))) {
      int running = pool.start(pool.want("ABC"));
      pool.commit(running, "ABC", 0, 2);
      pool.pool().clear();
      pool.commit(running, "ABC", 2, 3);
      pool.cache("ABD");
      pool.release(running);
      assertThat(pool.held("ABC")).isEqualTo(2);
      assertThat(pool.held("ABD")).isEqualTo(3);
    }
  }

  @Test
  void groupsHaveARange() {
    assertThatThrownBy(() -> PoolGroup.states(4).everyBlocks(3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("states must be kept every multiple of 3 tokens, not 4");
    assertThatThrownBy(() -> PoolGroup.window(1)).hasMessageContaining("tokens");
    assertThat(PoolGroup.window(128).id()).isEqualTo("window:128");
    assertThat(PoolGroup.states(0).id()).isEqualTo("mamba");
  }
}
