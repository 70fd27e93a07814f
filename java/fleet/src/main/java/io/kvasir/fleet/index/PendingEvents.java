package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Batches of one rank that wait behind a gap, by number. Bounded per rank and by a total shared
 * with all other ranks. Not thread-safe, except for the total.
 */
final class PendingEvents {

  private final TreeMap<Long, List<BlockEvent>> batches = new TreeMap<>(Long::compareUnsigned);
  private final StreamLimits limits;
  private final AtomicLong total;
  private long blocks;

  PendingEvents(StreamLimits limits, AtomicLong total) {
    this.limits = limits;
    this.total = total;
  }

  boolean isEmpty() {
    return batches.isEmpty();
  }

  boolean contains(long number) {
    return batches.containsKey(number);
  }

  /** The lowest waiting number; at least one batch must wait. */
  long first() {
    return batches.firstKey();
  }

  /** Adds a batch that is not waiting yet; false if there is no room for it. */
  boolean add(long number, List<BlockEvent> batch) {
    long weight = weight(batch);
    if (blocks + weight > limits.pendingBlocksPerRank()) {
      return false;
    }
    if (total.addAndGet(weight) > limits.pendingBlocks()) {
      total.addAndGet(-weight);
      return false;
    }
    blocks += weight;
    batches.put(number, batch);
    return true;
  }

  /** Removes and returns a batch; null if it is not waiting. */
  @Nullable List<BlockEvent> take(long number) {
    List<BlockEvent> batch = batches.remove(number);
    if (batch != null) {
      release(weight(batch));
    }
    return batch;
  }

  /** Drops all batches with lower numbers. */
  void dropBelow(long number) {
    while (!batches.isEmpty() && Long.compareUnsigned(batches.firstKey(), number) < 0) {
      release(weight(batches.pollFirstEntry().getValue()));
    }
  }

  void clear() {
    batches.clear();
    release(blocks);
  }

  private void release(long weight) {
    blocks -= weight;
    total.addAndGet(-weight);
  }

  private static long weight(List<BlockEvent> batch) {
    long weight = batch.isEmpty() ? 1 : 0;
    for (BlockEvent event : batch) {
      weight += weight(event);
    }
    return weight;
  }

  private static long weight(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      return 1L + stored.handles().length;
    }
    if (event instanceof BlockEvent.Aliased aliased) {
      return 1L + aliased.handles().length;
    }
    if (event instanceof BlockEvent.GroupStored stored) {
      return 1L + stored.handles().length;
    }
    if (event instanceof BlockEvent.GroupRemoved removed) {
      return 1L + removed.handles().length;
    }
    return event instanceof BlockEvent.Removed removed ? 1L + removed.handles().length : 1;
  }
}
