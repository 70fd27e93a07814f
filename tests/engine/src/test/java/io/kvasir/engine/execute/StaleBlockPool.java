package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.LeaseBatch;

/**
 * A pool with one fault: the first lease that reuses a block is shown another block in its place.
 */
final class StaleBlockPool extends PoolCalls {

  private static final int NONE = -1;

  private int victim = NONE;
  private boolean done;

  StaleBlockPool(BlockPool pool) {
    super(pool);
  }

  @Override
  public void lease(LeaseBatch batch) {
    super.lease(batch);
    for (int i = 0; i < batch.size() && !done; i++) {
      if (batch.matchedBlocks(i) > 0) {
        victim = batch.lease(i);
        done = true;
      }
    }
  }

  @Override
  public int blockTable(int lease, int[] table) {
    int length = super.blockTable(lease, table);
    if (lease == victim) {
      table[0] = (table[0] + 1) % shape().capacityBlocks();
    }
    return length;
  }

  @Override
  public void release(int[] leases, int count) {
    for (int i = 0; i < count; i++) {
      if (leases[i] == victim) {
        victim = NONE;
      }
    }
    super.release(leases, count);
  }
}
