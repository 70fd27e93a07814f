package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.event.BlockEventSink;
import java.util.ArrayList;
import java.util.List;

/** Passes calls on to a pool and remembers their names. */
class PoolCalls implements BlockPool {

  private final BlockPool pool;
  private final List<String> calls = new ArrayList<>();

  PoolCalls(BlockPool pool) {
    this.pool = pool;
  }

  /** The pool behind all wrappers. */
  static BlockPool unwrapped(BlockPool pool) {
    return pool instanceof PoolCalls wrapper ? unwrapped(wrapper.pool) : pool;
  }

  /** The calls since the last call of this method. */
  List<String> take() {
    List<String> taken = List.copyOf(calls);
    calls.clear();
    return taken;
  }

  @Override
  public PoolShape shape() {
    return pool.shape();
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    calls.add("probe " + batch.size());
    pool.probe(batch, matchedBlocks, offset);
  }

  @Override
  public void lease(LeaseBatch batch) {
    calls.add("lease " + batch.size());
    pool.lease(batch);
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    calls.add("lease " + batch.size());
    calls.add("extend " + reserved.size());
    pool.lease(batch, reserved);
  }

  @Override
  public void extend(ExtendBatch batch) {
    calls.add("extend " + batch.size());
    pool.extend(batch);
  }

  @Override
  public void commit(CommitBatch batch) {
    calls.add("commit " + batch.size());
    pool.commit(batch);
  }

  @Override
  public void release(int[] leases, int count) {
    calls.add("release " + count);
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
  public void settle() {
    pool.settle();
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    return pool.drainEvents(sink);
  }

  @Override
  public Occupancy occupancy() {
    return pool.occupancy();
  }

  @Override
  public int blockTable(int lease, int[] table) {
    return pool.blockTable(lease, table);
  }

  @Override
  public void close() {
    pool.close();
  }
}
