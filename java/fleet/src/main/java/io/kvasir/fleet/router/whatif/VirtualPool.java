package io.kvasir.fleet.router.whatif;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;

/** The blocks that a rank would hold, the least recently used ones first. Not thread-safe. */
final class VirtualPool {

  /** Capacity where none is known: more than engines have, in at most 12 MiB. */
  private static final int UNKNOWN_CAPACITY = 1 << 18;

  private final LongLinkedOpenHashSet blocks = new LongLinkedOpenHashSet();
  private long capacity = UNKNOWN_CAPACITY;

  /** Sets the capacity in blocks; 0 if it is unknown. */
  void resize(long capacityBlocks) {
    capacity = capacityBlocks > 0 ? capacityBlocks : UNKNOWN_CAPACITY;
  }

  /** Leading blocks of a prompt that the pool holds. O(blocks). */
  int match(long[] sequenceHashes, int count) {
    int matched = 0;
    while (matched < count && blocks.contains(sequenceHashes[matched])) {
      matched++;
    }
    return matched;
  }

  /**
   * Uses all blocks of a prompt, which the pool holds from then on. A block is used after those
   * that follow it, so it is evicted after them. O(blocks).
   *
   * @return the blocks that had to go
   */
  long[] use(long[] sequenceHashes, int count) {
    for (int i = count - 1; i >= 0; i--) {
      blocks.addAndMoveToLast(sequenceHashes[i]);
    }
    LongArrayList evicted = new LongArrayList();
    while (blocks.size() > capacity) {
      evicted.add(blocks.removeFirstLong());
    }
    return evicted.toLongArray();
  }
}
