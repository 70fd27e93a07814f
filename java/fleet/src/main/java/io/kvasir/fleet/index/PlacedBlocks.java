package io.kvasir.fleet.index;

import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectIterator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /** Walks through all blocks in pruning order. Nothing may change before the walk is over. */
  Walk walk() {
    return new Walk(standings.long2LongEntrySet().fastIterator());
  }

  /** A block and its standing. */
  private record Placed(long hash, long standing) {}

  /** A walk in pruning order; blocks of one expiry are in no order, and are sorted. */
  static final class Walk {
    private final ObjectIterator<Long2LongMap.Entry> entries;
    private final Deque<Placed> sameExpiry = new ArrayDeque<>();
    private @Nullable Placed after;

    private Walk(ObjectIterator<Long2LongMap.Entry> entries) {
      this.entries = entries;
      this.after = read();
      fill();
    }

    private @Nullable Placed read() {
      if (!entries.hasNext()) {
        return null;
      }
      Long2LongMap.Entry entry = entries.next(); // is reused
      return new Placed(entry.getLongKey(), entry.getLongValue());
    }

    private void fill() {
      if (after == null) {
        return;
      }
      long expiryMs = expiryMs(after.standing);
      List<Placed> same = new ArrayList<>();
      while (after != null && expiryMs(after.standing) == expiryMs) {
        same.add(after);
        after = read();
      }
      same.sort(Comparator.comparingLong(Placed::standing));
      sameExpiry.addAll(same);
    }

    /** Whether all blocks were taken. */
    boolean isOver() {
      return sameExpiry.isEmpty();
    }

    /** The standing of the next block. */
    long standing() {
      return sameExpiry.getFirst().standing;
    }

    /** Takes the next block; returns its hash. */
    long take() {
      long hash = sameExpiry.removeFirst().hash;
      if (sameExpiry.isEmpty()) {
        fill();
      }
      return hash;
    }
  }

  /** Removes the expired blocks. */
  void takeExpired(long nowMs, LongArrayList out) {
    while (!standings.isEmpty() && earliestMs() <= nowMs) {
      out.add(standings.firstLongKey());
      standings.removeFirstLong();
    }
  }

  /** Removes the blocks that expire first. */
  void takeFirst(int most, LongArrayList out) {
    while (!standings.isEmpty() && out.size() < most) {
      out.add(standings.firstLongKey());
      standings.removeFirstLong();
    }
  }

  /** Removes blocks. */
  void removeAll(LongArrayList hashes) {
    for (int i = 0; i < hashes.size(); i++) {
      standings.remove(hashes.getLong(i));
    }
  }
}
