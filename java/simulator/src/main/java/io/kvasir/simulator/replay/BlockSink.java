package io.kvasir.simulator.replay;

import io.kvasir.event.BlockEvent;

/** Takes the block events of the ranks of one worker. Confined to the replay's thread. */
@FunctionalInterface
interface BlockSink {

  /** Takes the next event of a rank; the blocks of a lost rank are cleared. */
  void on(int rank, BlockEvent event);
}
