package io.kvasir.simulator.replay;

import io.kvasir.simulator.selection.InstanceLoad;

/** An instance that has computed an iteration, as a serve layer sees it. */
interface IteratedWorker {

  /** Passes on the block events of its ranks since the last call. Settles the pools. */
  void drainBlocks(BlockSink sink);

  /** What it has to do. Settles the pools. */
  InstanceLoad load();
}
