package io.kvasir.benchmarks.index;

import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;

/** The blocks of a rank, by handle. Not thread-safe. */
final class RadixRank {

  /** Returned for an unknown handle. */
  static final long NOTHING = -1;

  private static final int RANK_BYTES = 256;

  final RankId id;
  final int slot;
  boolean visible;

  /** Handle to number of a node (upper half) and depth of the block (lower half). */
  final Long2LongOpenHashMap places = new Long2LongOpenHashMap();

  /** Block to the number of further handles that name it, beyond the first. */
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

  /** Minimum memory of the handles, assuming that none were removed. */
  long bytes() {
    long slotsOfMap = HashCommon.arraySize(Math.max(16, places.size()), .75f) + 1L;
    return RANK_BYTES + 2L * Long.BYTES * slotsOfMap;
  }
}
