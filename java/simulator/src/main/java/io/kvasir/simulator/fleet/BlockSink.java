package io.kvasir.simulator.fleet;

import io.kvasir.event.BlockEvent;

/** Takes the block events of the ranks of one worker. Confined to the replay's thread. */
@FunctionalInterface
public interface BlockSink {

  /**
   * Takes the next event of a rank. The blocks of a retired rank are cleared.
   *
   * @param rank the rank's index in its worker
   * @param event the event
   */
  void on(int rank, BlockEvent event);
}
