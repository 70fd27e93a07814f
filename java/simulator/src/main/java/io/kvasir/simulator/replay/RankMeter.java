package io.kvasir.simulator.replay;

import io.kvasir.execute.StepEngine;
import io.kvasir.execute.StepPlan;
import io.kvasir.model.Occupancy;
import io.kvasir.pool.BlockPool;

/**
 * Times a rank's steps and watches its pool while they run.
 *
 * <p>Confined to the rank's executor thread.
 */
final class RankMeter implements StepEngine {

  private final StepEngine engine;
  private final BlockPool pool;
  private long busyNs;
  private long peakActiveBlocks;
  private Occupancy lastOccupancy;

  RankMeter(StepEngine engine, BlockPool pool) {
    this.engine = engine;
    this.pool = pool;
    this.lastOccupancy = pool.occupancy();
  }

  @Override
  public long step(StepPlan plan) {
    lastOccupancy = pool.occupancy();
    peakActiveBlocks = Math.max(peakActiveBlocks, lastOccupancy.activeBlocks());
    long durationNs = engine.step(plan);
    busyNs += durationNs;
    return durationNs;
  }

  /** Modelled time that the rank computed. */
  long busyNs() {
    return busyNs;
  }

  /** The pool's occupancy when its last step began. */
  Occupancy lastOccupancy() {
    return lastOccupancy;
  }

  /** Most blocks that were leased at the same time. */
  long peakActiveBlocks() {
    return peakActiveBlocks;
  }
}
