package io.kvasir.fleet.router.trtllm;

/** A server, what it is thought to hold, and how that is learned. Guarded by the router's lock. */
final class CachingServer extends Server {

  private final BlockTable blocks;
  private CoalescedPoll poll;
  private boolean ready = true;
  private boolean usesEvents = true;
  private boolean pollFailed;

  CachingServer(String name, int maxBlocks) {
    super(name);
    this.blocks = new BlockTable(maxBlocks);
  }

  BlockTable blocks() {
    return blocks;
  }

  /** How the server's events are fetched; null if nobody fetches them. */
  CoalescedPoll poll() {
    return poll;
  }

  void pollBy(CoalescedPoll newPoll) {
    poll = newPoll;
  }

  /** False if the server cuts or names blocks in a way that cannot be followed. */
  boolean ready() {
    return ready;
  }

  /** False if its events are not believed. */
  boolean usesEvents() {
    return usesEvents;
  }

  void prepared(boolean isReady, boolean believesEvents) {
    ready = isReady;
    usesEvents = believesEvents;
  }

  /** Notes how a poll went; true if the one before went otherwise. */
  boolean notePoll(boolean failed) {
    boolean changed = pollFailed != failed;
    pollFailed = failed;
    return changed;
  }
}
