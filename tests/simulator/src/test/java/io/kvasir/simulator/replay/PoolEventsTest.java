package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An index that applies a pool's events unchanged matches the same blocks as the pool. */
class PoolEventsTest {

  private static final int BLOCK = 2;
  private static final int LONGEST = 12;
  private static final RankId RANK = new RankId(3, 0);

  @ParameterizedTest
  @EnumSource
  void anIndexFollowsAPool(HashFormat format) {
    long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
    Random random = new Random(seed);
    NativeBlockHasher hasher = NativeBlockHasher.of(format, BLOCK);
    RankMatches matches = new RankMatches();
    int matched = 0;
    try (BlockPool pool = NativeBlockPool.create(new PoolShape(40, BLOCK, 1, LONGEST, 100));
        PrefixIndex index = new NativePrefixIndex(format, BLOCK, Long.MAX_VALUE)) {
      for (int step = 0; step < 3_000; step++) {
        if (random.nextInt(200) == 0) {
          pool.clear();
        } else {
          play(pool, tokens(random), hasher);
        }
        pool.drainEvents((eventId, event) -> index.apply(RANK, event));
        int[] prompt = tokens(random);
        long[] sequence = hasher.hash(prompt, CacheScope.NONE).sequence();
        index.match(sequence, sequence.length, matches);
        assertThat(matches.blocks(RANK))
            .as("step %d of seed %d", step, seed)
            .isEqualTo(probe(pool, sequence));
        matched += matches.blocks(RANK);
      }
    }
    assertThat(matched).as("seed %d", seed).isGreaterThan(1_000);
  }

  /** Few contents, so that prompts share prefixes. */
  private static int[] tokens(Random random) {
    int[] tokens = new int[BLOCK * (1 + random.nextInt(LONGEST))];
    for (int i = 0; i < tokens.length; i += BLOCK) {
      Arrays.fill(tokens, i, i + BLOCK, random.nextInt(4) == 0 ? 1 : 0);
    }
    return tokens;
  }

  /** Serves a prompt and leaves its blocks cached. */
  private static void play(BlockPool pool, int[] tokens, NativeBlockHasher hasher) {
    BlockHashes hashes = hasher.hash(tokens, CacheScope.NONE);
    int blocks = hashes.blocks();
    LeaseBatch lease = new LeaseBatch();
    lease.add(tokens, hashes.sequence(), CacheScope.NONE, blocks, blocks, 0);
    pool.lease(lease);
    if (lease.matchedBlocks(0) < blocks) {
      CommitBatch commit = new CommitBatch();
      commit.add(lease.lease(0), tokens, hashes.sequence(), lease.matchedBlocks(0), blocks);
      pool.commit(commit);
    }
    pool.release(new int[] {lease.lease(0)}, 1);
  }

  private static int probe(BlockPool pool, long[] sequence) {
    ProbeBatch batch = new ProbeBatch();
    batch.add(sequence, sequence.length);
    int[] matched = new int[1];
    pool.probe(batch, matched, 0);
    return matched[0];
  }
}
