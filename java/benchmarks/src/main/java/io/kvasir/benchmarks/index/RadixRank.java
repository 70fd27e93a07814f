package io.kvasir.benchmarks.index;

import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;

/** A rank's handles: which block each names. Not thread-safe. */
final class RadixRank {

  /** What an unknown handle names. */
  static final long NOTHING = -1;

  private static final int RANK_BYTES = 256;

  final RankId id;
  final int slot;
  boolean visible;

  /** Handle to number of a node (upper half) and depth of the block (lower half). */
  final Long2LongOpenHashMap places = new Long2LongOpenHashMap();

  /** Block to further handles that name it, beside the first. */
  final Long2IntOpenHashMap furtherNames = new Long2IntOpenHashMap();

  RadixRank(RankId id, int slot, boolean visible) {
    this.id = id;
    this.slot = slot;
    this.visible = visible;
    places.defaultReturnValue(NOTHING);
  }

  static long place(RadixNode node, int offset) {
    return (long) node.number << 32 | (node.start + offset);
  }

  /** Least memory of the handles: as fastutil keeps them when none were removed. */
  long bytes() {
    long slotsOfMap = HashCommon.arraySize(Math.max(16, places.size()), .75f) + 1L;
    return RANK_BYTES + 2L * Long.BYTES * slotsOfMap;
  }
}
