package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.event.BlockEventSink;
import java.util.function.Supplier;

/** Asks a pool again what it refused for now. A pool that had changed would answer otherwise. */
final class PatientPool implements BlockPool {

  private final BlockPool pool;
  int refusals;

  PatientPool(BlockPool pool) {
    this.pool = pool;
  }

  private void again(Runnable call) {
    again(
        () -> {
          call.run();
          return 0;
        });
  }

  private <T> T again(Supplier<T> call) {
    try {
      return call.get();
    } catch (RetryableDeviceException e) {
      refusals++;
      return call.get();
    }
  }

  @Override
  public PoolShape shape() {
    return pool.shape();
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    again(() -> pool.probe(batch, matchedBlocks, offset));
  }

  @Override
  public void lease(LeaseBatch batch) {
    again(() -> pool.lease(batch));
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    again(() -> pool.lease(batch, reserved));
  }

  @Override
  public void extend(ExtendBatch batch) {
    again(() -> pool.extend(batch));
  }

  @Override
  public void commit(CommitBatch batch) {
    again(() -> pool.commit(batch));
  }

  @Override
  public void release(int[] leases, int count) {
    again(() -> pool.release(leases, count));
  }

  @Override
  public void clear() {
    again(pool::clear);
  }

  @Override
  public void submit() {
    again(pool::submit);
  }

  @Override
  public void complete() {
    again(pool::complete);
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    return again(() -> pool.drainEvents(sink));
  }

  @Override
  public Occupancy occupancy() {
    return again(pool::occupancy);
  }

  @Override
  public int blockTable(int lease, int[] table) {
    return again(() -> pool.blockTable(lease, table));
  }

  @Override
  public void close() {
    pool.close();
  }
}
