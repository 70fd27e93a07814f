package io.kvasir.testing.pool;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.event.BlockEventSink;

/**
 * Settles a pool before each probe and each read of its occupancy, for tests that check after every
 * call. Confined to one thread.
 *
 * @param pool the underlying pool
 */
public record SettledBlockPool(BlockPool pool) implements BlockPool {

  @Override
  public PoolShape shape() {
    return pool.shape();
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    pool.settle();
    pool.probe(batch, matchedBlocks, offset);
  }

  @Override
  public void lease(LeaseBatch batch) {
    pool.lease(batch);
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
  public void release(int[] leases, int count) {
    pool.release(leases, count);
  }

  @Override
  public void clear() {
    pool.clear();
  }

  @Override
  public void submit() {
    pool.submit();
  }

  @Override
  public void complete() {
    pool.complete();
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    return pool.drainEvents(sink);
  }

  @Override
  public Occupancy occupancy() {
    pool.settle();
    return pool.occupancy();
  }

  @Override
  public int blockTable(int lease, int[] table) {
    return pool.blockTable(lease, table);
  }

  @Override
  public void handOver() {
    pool.handOver();
  }

  @Override
  public void close() {
    pool.close();
  }
}
