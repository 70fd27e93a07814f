package io.kvasir.embedded.publish;

import java.util.ArrayDeque;
import java.util.Deque;

/** The last batches of a rank. Confined to the publisher's thread. */
final class ReplayRing {

  /** Most batches that are kept, as in the engines. */
  static final int CAPACITY = 10_000;

  /** A batch that was published. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  record Published(long number, byte[] payload) {}

  private final Deque<Published> batches = new ArrayDeque<>();

  void add(Published batch) {
    if (batches.size() == CAPACITY) {
      batches.removeFirst();
    }
    batches.addLast(batch);
  }

  /** The batches, oldest first. */
  Iterable<Published> batches() {
    return batches;
  }

  void clear() {
    batches.clear();
  }
}
