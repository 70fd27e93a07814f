package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the further groups of a pool hold, and which of it the pool's leases use.
 *
 * <p>Thread-safe.
 */
final class FurtherGroups {

  private final List<GroupBlocks> groups = new ArrayList<>();
  private final Int2ObjectOpenHashMap<Use> leases = new Int2ObjectOpenHashMap<>();
  private final ArrayDeque<BlockEvent> events = new ArrayDeque<>();
  private final long mostEvents;
  private long lostEvents;

  /** What a lease uses: the groups' part of its computed blocks. */
  private static final class Use {
    private long[] hashes;
    private int blocks;

    private Use(long[] hashes, int blocks) {
      this.hashes = hashes;
      this.blocks = blocks;
    }
  }

  FurtherGroups(List<PoolGroup> further, PoolShape shape) {
    this.mostEvents = (long) shape.eventCapacity() * further.size();
    int size = shape.tokensPerBlock();
    for (PoolGroup each : further) {
      int index = groups.size() + 1;
      groups.add(
          new GroupBlocks(
              each.cacheGroup(index, size),
              each.everyBlocks(size),
              shape.capacityBlocks(),
              this::record));
    }
  }

  private void record(BlockEvent event) {
    if (mostEvents == 0) {
      return;
    }
    if (events.size() == mostEvents) {
      events.remove();
      lostEvents++;
    }
    events.add(event);
  }

  /**
   * The longest prefix that all groups allow. O(groups x window) where they hold its end.
   *
   * @param hashes sequence hashes, those of the prompt from {@code from} on
   * @param blocks the longest one that may be
   */
  synchronized int limit(long[] hashes, int from, int blocks) {
    int limit = blocks;
    int before = limit + 1;
    while (limit < before) {
      before = limit;
      for (GroupBlocks group : groups) {
        limit = group.limit(hashes, from, limit);
      }
    }
    return limit;
  }

  /** A lease begins with matched blocks. */
  synchronized void begin(int lease, long[] hashes, int matched) {
    leases.put(lease, new Use(hashes, matched));
    groups.forEach(group -> group.begin(hashes, matched));
  }

  /** A lease has computed more blocks. Those of a lease that has not begun here are not kept. */
  synchronized void advance(int lease, long[] hashes, int blocks) {
    Use use = leases.get(lease);
    if (use != null) {
      groups.forEach(group -> group.advance(hashes, use.blocks, blocks));
      use.hashes = hashes;
      use.blocks = blocks;
    }
  }

  /** A lease ends. */
  synchronized void end(int lease) {
    Use use = leases.remove(lease);
    if (use != null) {
      groups.forEach(group -> group.end(use.hashes, use.blocks));
    }
  }

  /** Forgets all blocks, and what leases use and compute. */
  synchronized void clear() {
    groups.forEach(GroupBlocks::clear);
    leases.clear();
    events.clear();
    lostEvents = 0;
  }

  /** The number of events that were dropped since the last call, because none was taken. */
  synchronized long takeLost() {
    long lost = lostEvents;
    lostEvents = 0;
    return lost;
  }

  /** Passes the events since the last call to a sink, and returns their number. */
  synchronized int drain(Consumer<BlockEvent> sink) {
    int count = 0;
    for (BlockEvent event = events.poll(); event != null; event = events.poll()) {
      sink.accept(event);
      count++;
    }
    return count;
  }
}
