package io.kvasir.simulator.fleet;

import io.kvasir.event.BlockEvent;

/** Receives the block events of the ranks of one worker. Confined to the replay's thread. */
@FunctionalInterface
public interface WorkerBlockSink {

  /**
   * Receives the next event of a rank. When a rank is retired, its blocks are cleared.
   *
   * @param rank the rank's index in its worker
   * @param event the event
   */
  void on(int rank, BlockEvent event);
}
