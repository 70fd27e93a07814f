package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.EngineMetrics;

/** A worker that has computed an iteration, as seen by the fleet layer. */
public interface IteratedWorker {

  /**
   * Reads the block events of its ranks since the last call. Settles the pools.
   *
   * @param sink receives them
   */
  void drainBlocks(WorkerBlockSink sink);

  /**
   * The load that its engine would report now. Settles the pools.
   *
   * @return the combined metrics of its ranks
   */
  EngineMetrics metrics();
}
