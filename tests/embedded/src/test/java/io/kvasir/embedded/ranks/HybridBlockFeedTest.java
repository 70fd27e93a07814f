package io.kvasir.embedded.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.publish.BlockChange;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.HybridBlockPool;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is said of the blocks of a hybrid model's groups. */
class HybridBlockFeedTest {

  private static final int BLOCK = 2;
  private static final List<PoolGroup> GROUPS =
      List.of(PoolGroup.window(3), PoolGroup.states(2 * BLOCK));
  private static final int[] TOKENS = IntStream.range(100, 110).toArray();
  private static final long[] HASHES = {11, 12, 13, 14, 15};

  /** Keeps all changes. */
  private static final class Kept implements BlockSink {
    final List<String> changes = new ArrayList<>();

    @Override
    public long take(int rank, List<BlockChange> batch) {
      batch.forEach(change -> changes.add(words(change)));
      return 0;
    }

    @Override
    public void restart(int rank) {
      changes.add("restart");
    }

    private static String words(BlockChange change) {
      if (change instanceof BlockChange.Stored stored) {
        return stored.group().index()
            + (stored.root() ? " root " : " after " + stored.parent() + " ")
            + Arrays.toString(stored.hashes())
            + " of "
            + stored.tokens()[0]
            + " to "
            + stored.tokens()[stored.tokens().length - 1];
      }
      return change instanceof BlockChange.Removed removed
          ? removed.group() + " without " + Arrays.toString(removed.hashes())
          : "cleared";
    }
  }

  private final Kept kept = new Kept();
  private final BlockFeed feed = new BlockFeed(0, BLOCK, GROUPS, kept);

  private static int lease(BlockPool pool) {
    LeaseBatch batch = new LeaseBatch();
    batch.add(TOKENS, HASHES, CacheScope.NONE, 0, HASHES.length, 0);
    pool.lease(batch);
    return batch.lease(0);
  }

  private void commit(BlockPool pool, int lease, int from, int to) {
    CommitBatch batch = new CommitBatch();
    batch.add(lease, TOKENS, HASHES, from, to);
    feed.onCommitted(null, TOKENS, HASHES, from, to);
    pool.commit(batch);
    feed.drain(pool);
  }

  @Test
  void aStateHasTheTokensOfTheBlocksBeforeIt() {
    PoolShape shape = new PoolShape(8, BLOCK, 2, 8, 64);
    try (BlockPool pool = new HybridBlockPool(NativeBlockPool.create(shape), GROUPS)) {
      int lease = lease(pool);
      commit(pool, lease, 0, 1);
      commit(pool, lease, 1, 5);
      assertThat(kept.changes)
          .containsExactly(
              "0 root [11] of 100 to 101",
              "1 root [11] of 100 to 101",
              "0 after 11 [12, 13, 14, 15] of 102 to 109",
              "1 after 11 [12, 13, 14, 15] of 102 to 109",
              "2 root [12, 14] of 100 to 107");
      kept.changes.clear();
      feed.retire();
      assertThat(kept.changes)
          .containsExactly(
              "0 without [11, 12, 13, 14, 15]",
              "1 without [11, 12, 13, 14, 15]",
              "2 without [12, 14]");
    }
  }

  @Test
  void aRestartForgetsAllGroups() {
    PoolShape shape = new PoolShape(8, BLOCK, 2, 8, 64);
    try (BlockPool pool = new HybridBlockPool(NativeBlockPool.create(shape), GROUPS)) {
      int lease = lease(pool);
      commit(pool, lease, 0, 2);
      pool.release(new int[] {lease}, 1);
      feed.restart(pool);
      kept.changes.clear();
      commit(pool, lease(pool), 0, 2);
      assertThat(kept.changes)
          .containsExactly(
              "0 root [11, 12] of 100 to 103",
              "1 root [11, 12] of 100 to 103",
              "2 root [12] of 100 to 103");
    }
  }
}
