package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.Occupancy;

/**
 * Times a rank's steps and watches its pool while they run.
 *
 * <p>Confined to the rank's executor thread.
 */
final class RankMeter implements StepEngine {

  private final int rank;
  private final StepEngine engine;
  private final EngineDelays faults;
  private final BlockPool pool;
  private boolean prefilled;
  private final LoadOverTime.Builder load = new LoadOverTime.Builder();
  private long nowNs;
  private long stepNs;
  private long busyNs;
  private long peakActiveBlocks;
  private Occupancy lastOccupancy;

  /** {@code rank} is the index among the ranks of all workers. */
  RankMeter(int rank, StepEngine engine, EngineDelays faults, BlockPool pool) {
    this.rank = rank;
    this.engine = engine;
    this.faults = faults;
    this.pool = pool;
    this.lastOccupancy = pool.occupancy();
  }

  /** Sets the time at which the next step begins. */
  void startAt(long startNs) {
    nowNs = startNs;
    stepNs = 0;
  }

  @Override
  public long step(StepPlan plan) {
    pool.complete(); // a device's page may not show what this step has just leased
    lastOccupancy = pool.occupancy();
    peakActiveBlocks = Math.max(peakActiveBlocks, lastOccupancy.activeBlocks());
    prefilled = prefills(plan);
    long durationNs = faults.durationNs(rank, nowNs, engine.step(plan));
    stepNs = Math.max(1, durationNs);
    busyNs += durationNs;
    load.add(nowNs, durationNs);
    return durationNs;
  }

  /** Duration of the step since {@link #startAt}, at least 1; 0 if there was none. */
  long stepNs() {
    return stepNs;
  }

  private boolean prefills(StepPlan plan) {
    for (int i = 0; i < plan.size(); i++) {
      boolean hasKv = engine instanceof DecodeStepEngine decode && decode.hasKv(plan, i);
      if (!plan.decodes(i) && !hasKv) {
        return true;
      }
    }
    return false;
  }

  /** Whether the rank prefilled since the last call. */
  boolean takePrefilled() {
    boolean taken = prefilled;
    prefilled = false;
    return taken;
  }

  /** Modelled time that the rank spent computing. */
  long busyNs() {
    return busyNs;
  }

  /** The same over time. */
  LoadOverTime load() {
    return load.build();
  }

  /** The pool's occupancy when its last step began. */
  Occupancy lastOccupancy() {
    return lastOccupancy;
  }

  /** Most blocks leased at the same time. */
  long peakActiveBlocks() {
    return peakActiveBlocks;
  }
}
