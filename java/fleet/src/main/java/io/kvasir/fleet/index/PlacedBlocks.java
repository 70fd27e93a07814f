package io.kvasir.fleet.index;

import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectIterator;

/**
 * The blocks placed on one rank, ordered by expiry. A block's standing combines its expiry and
 * depth in one number that ascends in pruning order: earliest expiry first, then deepest first. Not
 * thread-safe.
 */
final class PlacedBlocks {

  private static final int DEPTH_BITS = 20;
  private static final int MAX_DEPTH = (1 << DEPTH_BITS) - 1;

  /** Sequence hash to standing; ascending by expiry, because used blocks move to the end. */
  private final Long2LongLinkedOpenHashMap standings = new Long2LongLinkedOpenHashMap();

  static long standing(long expiryMs, int depth) {
    return expiryMs << DEPTH_BITS | MAX_DEPTH - Math.min(depth, MAX_DEPTH);
  }

  static long expiryMs(long standing) {
    return standing >> DEPTH_BITS;
  }

  int size() {
    return standings.size();
  }

  /** When the first block expires; must not be empty. */
  long earliestMs() {
    return expiryMs(standings.get(standings.firstLongKey()));
  }

  /** Uses the leading blocks of a prompt, giving all of them the same expiry. */
  void use(long[] sequenceHashes, long expiryMs) {
    for (int i = sequenceHashes.length - 1; i >= 0; i--) {
      standings.putAndMoveToLast(sequenceHashes[i], standing(expiryMs, i + 1));
    }
  }

  /** Copies all standings to an array from an index on; returns the index after the last. */
  int copy(long[] out, int from) {
    int at = from;
    for (ObjectIterator<Long2LongMap.Entry> i = iterator(); i.hasNext(); ) {
      out[at++] = i.next().getLongValue();
    }
    return at;
  }

  /** Removes the expired blocks. */
  void takeExpired(long nowMs, LongArrayList out) {
    while (!standings.isEmpty() && earliestMs() <= nowMs) {
      out.add(standings.firstLongKey());
      standings.removeFirstLong();
    }
  }

  /**
   * Removes all blocks below a standing and at most {@code most} equal to it; returns how many were
   * equal.
   */
  int take(long standing, int most, LongArrayList out) {
    int equal = 0;
    for (ObjectIterator<Long2LongMap.Entry> i = iterator(); i.hasNext(); ) {
      Long2LongMap.Entry block = i.next();
      long its = block.getLongValue();
      if (expiryMs(its) > expiryMs(standing)) {
        break;
      }
      boolean tied = its == standing && equal < most;
      if (its < standing || tied) {
        equal += tied ? 1 : 0;
        out.add(block.getLongKey());
        i.remove();
      }
    }
    return equal;
  }

  private ObjectIterator<Long2LongMap.Entry> iterator() {
    return standings.long2LongEntrySet().fastIterator();
  }
}
