package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.function.Consumer;

/**
 * The blocks that one further group holds, by sequence hash.
 *
 * <p>A group keeps the blocks of some positions: a window those of all, states those at the end of
 * every so many. A lease uses the last of them before the end of its computed blocks: a window's
 * length, or one state. The others stay until their room is needed. The block whose last use ended
 * first is evicted first, and of the blocks of one lease the deepest.
 *
 * <p>Not thread-safe.
 */
final class GroupBlocks {

  private static final int ABSENT = -1;

  private final CacheGroup group;
  private final int everyBlocks;
  private final int room;
  private final Consumer<BlockEvent> events;

  /** Held blocks, and how many leases use each. */
  private final Long2IntOpenHashMap uses = new Long2IntOpenHashMap();

  /** Held blocks that no lease uses, in the order of their eviction. */
  private final LongLinkedOpenHashSet idle = new LongLinkedOpenHashSet();

  /**
   * Makes an empty group.
   *
   * @param room most blocks that it holds, at least as many as leases use together
   * @param events receives what changes
   */
  GroupBlocks(CacheGroup group, int everyBlocks, int room, Consumer<BlockEvent> events) {
    this.group = group;
    this.everyBlocks = everyBlocks;
    this.room = room;
    this.events = events;
    uses.defaultReturnValue(ABSENT);
  }

  private boolean keeps(int position) {
    return (position + 1) % everyBlocks == 0;
  }

  /** The end of the positions that a lease with so many computed blocks uses. */
  private int end(int blocks) {
    return blocks / everyBlocks * everyBlocks;
  }

  /** The first of these positions. */
  private int begin(int blocks) {
    return Math.max(0, end(blocks) - group.blocks());
  }

  /**
   * The longest prefix that the group allows.
   *
   * @param hashes sequence hashes, those of the prompt from {@code from} on
   * @param blocks the longest one that may be
   */
  int limit(long[] hashes, int from, int blocks) {
    int end = blocks;
    for (int at = blocks - 1; at >= 0 && end - at <= group.blocks(); at--) {
      if (!uses.containsKey(hashes[from + at])) {
        end = at;
      }
    }
    return end;
  }

  /** A lease begins with matched blocks, whose prefix the group allows. */
  void begin(long[] hashes, int matched) {
    for (int at = begin(matched); at < end(matched); at++) {
      use(hashes[at]);
    }
  }

  /** A lease that had {@code before} computed blocks has {@code blocks}. */
  void advance(long[] hashes, int before, int blocks) {
    for (int at = before; at < blocks; at++) {
      if (keeps(at)) {
        use(hashes[at]);
      }
    }
    leave(hashes, begin(before), begin(blocks));
  }

  /** A lease with so many computed blocks ends. */
  void end(long[] hashes, int blocks) {
    leave(hashes, begin(blocks), end(blocks));
  }

  /** Ends a lease's use of the blocks that are kept of some positions. */
  private void leave(long[] hashes, int from, int to) {
    for (int at = to - 1; at >= from; at--) {
      if (keeps(at) && uses.addTo(hashes[at], -1) == 1) {
        idle.add(hashes[at]);
      }
    }
  }

  private void use(long hash) {
    int users = uses.get(hash);
    if (users == ABSENT) {
      evict();
      events.accept(stored(hash));
    } else if (users == 0) {
      idle.remove(hash);
    }
    uses.put(hash, Math.max(users, 0) + 1);
  }

  private void evict() {
    while (uses.size() >= room && !idle.isEmpty()) {
      long hash = idle.removeFirstLong();
      uses.remove(hash);
      events.accept(new BlockEvent.GroupRemoved(group.index(), hash));
    }
  }

  private BlockEvent stored(long hash) {
    long[] block = {hash};
    return BlockEvent.GroupStored.some(group, false, block, block, BlockEvent.Repeats.SAME);
  }

  void clear() {
    uses.clear();
    idle.clear();
  }
}
