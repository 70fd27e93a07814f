package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.ProbeBatch;

/** A pool that fails when its rank's fault says so. When it is lost, its memory is gone. */
final class FaultyPool extends PoolCalls {

  final Fault fault = new Fault();

  FaultyPool(BlockPool pool) {
    super(pool);
    fault.onLoss(pool::close);
  }

  /** An engine that fails with the same fault. */
  StepEngine engine(StepEngine engine) {
    return plan -> {
      fault.at(Fault.Site.STEP);
      return engine.step(plan);
    };
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    fault.at(Fault.Site.PROBE);
    super.probe(batch, matchedBlocks, offset);
  }

  @Override
  public void lease(LeaseBatch batch) {
    fault.at(Fault.Site.LEASE);
    super.lease(batch);
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    fault.at(Fault.Site.LEASE);
    fault.at(Fault.Site.EXTEND);
    super.lease(batch, reserved);
  }

  @Override
  public void extend(ExtendBatch batch) {
    fault.at(Fault.Site.EXTEND);
    super.extend(batch);
  }

  @Override
  public void commit(CommitBatch batch) {
    fault.at(Fault.Site.COMMIT);
    super.commit(batch);
  }

  @Override
  public void release(int[] leases, int count) {
    fault.at(Fault.Site.RELEASE);
    super.release(leases, count);
  }

  @Override
  public Occupancy occupancy() {
    fault.at(Fault.Site.OCCUPANCY);
    return super.occupancy();
  }

  @Override
  public int blockTable(int lease, int[] table) {
    fault.at(Fault.Site.BLOCK_TABLE);
    return super.blockTable(lease, table);
  }
}
