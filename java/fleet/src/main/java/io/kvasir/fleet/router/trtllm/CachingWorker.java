package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Worker;

/** A worker and the blocks that it is expected to hold. Guarded by the router's lock. */
final class CachingWorker extends Worker {

  private final BlockTable blocks;
  private boolean ready = true;
  private boolean usesEvents = true;

  CachingWorker(long workerId, int maxBlocks) {
    super(workerId);
    this.blocks = new BlockTable(maxBlocks);
  }

  BlockTable blocks() {
    return blocks;
  }

  /** False if the worker's block size or naming cannot be followed. */
  boolean ready() {
    return ready;
  }

  /** False if its events are ignored. */
  boolean usesEvents() {
    return usesEvents;
  }

  void prepared(boolean isReady, boolean followsEvents) {
    ready = isReady;
    usesEvents = followsEvents;
  }
}
