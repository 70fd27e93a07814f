package io.kvasir.execute;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.Occupancy;
import io.kvasir.pool.BlockPool;
import io.kvasir.pool.CommitBatch;
import io.kvasir.pool.ExtendBatch;
import io.kvasir.pool.LeaseBatch;
import io.kvasir.pool.PoolShape;
import io.kvasir.pool.ProbeBatch;
import java.util.function.Consumer;

/** A pool with one fault: the first lease that reuses a block is shown another block in its place. */
final class StaleBlockPool implements BlockPool {

  private static final int NONE = -1;

  private final BlockPool pool;
  private int victim = NONE;
  private boolean done;

  StaleBlockPool(BlockPool pool) {
    this.pool = pool;
  }

  @Override
  public void lease(LeaseBatch batch) {
    pool.lease(batch);
    for (int i = 0; i < batch.size() && !done; i++) {
      if (batch.matchedBlocks(i) > 0) {
        victim = batch.lease(i);
        done = true;
      }
    }
  }

  @Override
  public int blockTable(int lease, int[] table) {
    int length = pool.blockTable(lease, table);
    if (lease == victim) {
      table[0] = (table[0] + 1) % pool.shape().capacityBlocks();
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
    pool.release(leases, count);
  }

  @Override
  public PoolShape shape() {
    return pool.shape();
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    pool.probe(batch, matchedBlocks, offset);
  }

  @Override
  public void extend(ExtendBatch batch) {
    pool.extend(batch);
  }

  @Override
  public void commit(CommitBatch batch) {
    pool.commit(batch);
  }

  @Override
  public void clear() {
    pool.clear();
  }

  @Override
  public int drainEvents(Consumer<BlockEvent> sink) {
    return pool.drainEvents(sink);
  }

  @Override
  public Occupancy occupancy() {
    return pool.occupancy();
  }

  @Override
  public void close() {
    pool.close();
  }
}
