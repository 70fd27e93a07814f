package io.kvasir.simulator.replay;

import io.kvasir.event.BlockEvent;

/** Takes what the ranks of one instance come to hold. Confined to the replay's thread. */
interface BlockSink {

  /** Takes an event of a rank's pool; all of them, in their order. */
  void on(int rank, BlockEvent event);

  /** Takes all of a rank's blocks away, because it forgot or is lost. */
  void clear(int rank);
}
