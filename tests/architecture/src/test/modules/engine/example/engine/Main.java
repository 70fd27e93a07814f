package example.engine;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.CacheScope;

/** Names the three blocks of a prompt in a pool, and probes for them. */
public final class Main {

  private static final int TOKENS_PER_BLOCK = 16;

  private Main() {}

  /** Prints what matched. */
  public static void main(String[] arguments) {
    int[] tokens = new int[3 * TOKENS_PER_BLOCK];
    long[] hashes = {11, 12, 13};
    try (BlockPool pool = NativeBlockPool.create(new PoolShape(8, TOKENS_PER_BLOCK, 2, 4, 0))) {
      LeaseBatch lease = new LeaseBatch();
      lease.add(tokens, hashes, CacheScope.NONE, hashes.length, hashes.length, 0);
      pool.lease(lease);
      CommitBatch commit = new CommitBatch();
      commit.add(lease.lease(0), tokens, hashes, 0, hashes.length);
      pool.commit(commit);
      ProbeBatch probe = new ProbeBatch();
      probe.add(hashes, hashes.length);
      int[] matched = new int[1];
      pool.probe(probe, matched, 0);
      System.out.println("matched " + matched[0]);
    }
  }
}
