package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Worker;
import org.jspecify.annotations.Nullable;

/** A worker and the blocks that it is expected to hold. Guarded by the router's lock. */
final class CachingWorker extends Worker {

  private final BlockTable blocks;
  private @Nullable CoalescedPoll poll;
  private boolean ready = true;
  private boolean usesEvents = true;
  private boolean pollFailed;

  CachingWorker(long workerId, int maxBlocks) {
    super(workerId);
    this.blocks = new BlockTable(maxBlocks);
  }

  BlockTable blocks() {
    return blocks;
  }

  /** How the worker's events are fetched; null if nothing fetches them. */
  @Nullable CoalescedPoll poll() {
    return poll;
  }

  void pollBy(CoalescedPoll newPoll) {
    poll = newPoll;
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

  /** Records how a poll went; true if the one before went otherwise. */
  boolean notePoll(boolean failed) {
    boolean changed = pollFailed != failed;
    pollFailed = failed;
    return changed;
  }
}
