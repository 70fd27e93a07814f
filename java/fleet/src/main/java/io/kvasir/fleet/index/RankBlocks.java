package io.kvasir.fleet.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;

/**
 * The blocks of one rank with cache groups, numbered from 0: by the engine's hash, and by sequence
 * hash where that is known. A block is forgotten with its last handle. Not thread-safe.
 */
final class RankBlocks {

  /** Stands for no block. */
  static final int NONE = -1;

  private static final int FEWEST = 16;

  private final Long2IntOpenHashMap blockOfHash = map();
  private final Long2IntOpenHashMap blockOfName = map();

  private long[] hashes = new long[FEWEST];
  private long[] names = new long[FEWEST];
  private boolean[] named = new boolean[FEWEST];

  /** Handles of each block, in all groups. */
  private int[] uses = new int[FEWEST];

  private final IntArrayList free = new IntArrayList();
  private int used;

  /** {@return an empty map from numbers to blocks, in which {@link #NONE} stands for no block} */
  static Long2IntOpenHashMap map() {
    Long2IntOpenHashMap map = new Long2IntOpenHashMap();
    map.defaultReturnValue(NONE);
    return map;
  }

  /** {@return the block of an engine's hash, or {@link #NONE}} */
  int ofHash(long hash) {
    return blockOfHash.get(hash);
  }

  /** {@return the block of a sequence hash, or {@link #NONE}} */
  int ofName(long name) {
    return blockOfName.get(name);
  }

  /** {@return whether the sequence hash of a block is known} */
  boolean isNamed(int block) {
    return named[block];
  }

  /** {@return the sequence hash of a block that {@link #isNamed}} */
  long name(int block) {
    return names[block];
  }

  /** Adds a block with an engine's hash that no other block has. */
  int add(long hash) {
    int block;
    if (!free.isEmpty()) {
      block = free.popInt();
    } else {
      block = used++;
      if (block == names.length) {
        makeRoom(2 * block);
      }
    }
    named[block] = false;
    uses[block] = 0;
    hashes[block] = hash;
    blockOfHash.put(hash, block);
    return block;
  }

  /** Sets the sequence hash of a block, unless it has one. */
  void name(int block, long name) {
    if (!named[block]) {
      named[block] = true;
      names[block] = name;
      blockOfName.put(name, block);
    }
  }

  /** A block has one more handle. */
  void use(int block) {
    uses[block]++;
  }

  /** A block has one handle less, and is forgotten if it was the last one. */
  void release(int block) {
    if (--uses[block] == 0) {
      blockOfHash.remove(hashes[block]);
      if (named[block]) {
        blockOfName.remove(names[block]);
      }
      free.add(block);
    }
  }

  /** {@return whether there is no block} */
  boolean isEmpty() {
    return used == free.size();
  }

  /** Forgets all blocks, and frees their memory. */
  void clear() {
    blockOfHash.clear();
    blockOfHash.trim();
    blockOfName.clear();
    blockOfName.trim();
    free.clear();
    free.trim();
    used = 0;
    makeRoom(FEWEST);
  }

  private void makeRoom(int blocks) {
    hashes = Arrays.copyOf(hashes, blocks);
    names = Arrays.copyOf(names, blocks);
    named = Arrays.copyOf(named, blocks);
    uses = Arrays.copyOf(uses, blocks);
  }
}
