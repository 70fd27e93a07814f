package io.kvasir.fleet.index;

import io.kvasir.event.CacheGroup;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What one cache group of a rank holds: its handles, the blocks that they name, and how long a
 * prefix it allows. Not thread-safe.
 */
final class HeldGroup {

  private final @Nullable CacheGroup group;
  private final RankBlocks blocks;
  private final Long2IntOpenHashMap blockOfHandle = RankBlocks.map();

  /** Handles in this group, by block. */
  private final Int2IntOpenHashMap handlesOfBlock = new Int2IntOpenHashMap();

  /**
   * An empty group.
   *
   * @param group what it is; null for the main one
   * @param blocks the blocks of its rank
   */
  HeldGroup(@Nullable CacheGroup group, RankBlocks blocks) {
    this.group = group;
    this.blocks = blocks;
  }

  /** {@return what it is; null for the main one} */
  @Nullable CacheGroup group() {
    return group;
  }

  /** {@return whether a prefix needs all its blocks in this group} */
  boolean isFull() {
    return group == null || group.kind() == CacheGroup.Kind.FULL;
  }

  /**
   * {@return how many blocks at its end a prefix needs in this group, unless it {@link #isFull}}
   */
  int needed() {
    return group == null || group.kind() == CacheGroup.Kind.STATE ? 1 : group.blocks();
  }

  /** {@return whether it holds a block; false for none} */
  boolean holds(int block) {
    return block != RankBlocks.NONE && handlesOfBlock.containsKey(block);
  }

  /** {@return the block that a handle names, or {@link RankBlocks#NONE}} */
  int blockOf(long handle) {
    return blockOfHandle.get(handle);
  }

  /** {@return whether it has a handle} */
  boolean hasHandle(long handle) {
    return blockOfHandle.containsKey(handle);
  }

  /** {@return the number of handles} */
  int handleCount() {
    return blockOfHandle.size();
  }

  /** {@return a copy of all handles} */
  long[] handles() {
    return blockOfHandle.keySet().toLongArray();
  }

  /** Names a block by a handle. Returns the block that the handle named before. */
  int bind(long handle, int block) {
    int before = blockOfHandle.put(handle, block);
    if (before != block) {
      handlesOfBlock.addTo(block, 1);
      blocks.use(block);
      if (before != RankBlocks.NONE) {
        release(before);
      }
    }
    return before;
  }

  /** Removes a handle. True if it was there. */
  boolean remove(long handle) {
    int block = blockOfHandle.remove(handle);
    if (block == RankBlocks.NONE) {
      return false;
    }
    release(block);
    return true;
  }

  private void release(int block) {
    if (handlesOfBlock.addTo(block, -1) == 1) {
      handlesOfBlock.remove(block);
    }
    blocks.release(block);
  }

  /** {@return the longest prefix of a prompt that it allows, at most {@code limit}} */
  int longest(long[] sequenceHashes, int limit) {
    return isFull() ? leading(sequenceHashes, limit) : windowed(sequenceHashes, limit);
  }

  private int leading(long[] sequenceHashes, int limit) {
    int held = 0;
    while (held < limit && holds(blocks.ofName(sequenceHashes[held]))) {
      held++;
    }
    return held;
  }

  /** The longest prefix whose last blocks are held, as many as are needed or all. */
  private int windowed(long[] sequenceHashes, int limit) {
    int window = needed();
    int end = limit;
    for (int at = limit - 1; at >= 0 && end - at <= window; at--) {
      if (!holds(blocks.ofName(sequenceHashes[at]))) {
        end = at;
      }
    }
    return end;
  }
}
