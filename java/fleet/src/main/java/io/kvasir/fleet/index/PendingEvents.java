package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Events of one rank that wait behind a gap, by number. Bounded per rank and by a total shared with
 * all other ranks. Not thread-safe, except for the total.
 */
final class PendingEvents {

  private final TreeMap<Long, BlockEvent> events = new TreeMap<>(Long::compareUnsigned);
  private final StreamLimits limits;
  private final AtomicLong total;
  private long blocks;

  PendingEvents(StreamLimits limits, AtomicLong total) {
    this.limits = limits;
    this.total = total;
  }

  boolean isEmpty() {
    return events.isEmpty();
  }

  boolean contains(long eventId) {
    return events.containsKey(eventId);
  }

  /** The lowest waiting number; at least one event must wait. */
  long first() {
    return events.firstKey();
  }

  /** Adds an event that is not waiting yet; false if there is no room for it. */
  boolean add(long eventId, BlockEvent event) {
    long weight = weight(event);
    if (blocks + weight > limits.pendingBlocksPerRank()) {
      return false;
    }
    if (total.addAndGet(weight) > limits.pendingBlocks()) {
      total.addAndGet(-weight);
      return false;
    }
    blocks += weight;
    events.put(eventId, event);
    return true;
  }

  /** Removes and returns an event; null if it is not waiting. */
  BlockEvent take(long eventId) {
    BlockEvent event = events.remove(eventId);
    if (event != null) {
      release(weight(event));
    }
    return event;
  }

  /** Drops all events with lower numbers. */
  void dropBelow(long eventId) {
    while (!events.isEmpty() && Long.compareUnsigned(events.firstKey(), eventId) < 0) {
      release(weight(events.pollFirstEntry().getValue()));
    }
  }

  void clear() {
    events.clear();
    release(blocks);
  }

  private void release(long weight) {
    blocks -= weight;
    total.addAndGet(-weight);
  }

  private static long weight(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      return 1L + stored.handles().length;
    }
    return event instanceof BlockEvent.Removed removed ? 1L + removed.handles().length : 1;
  }
}
