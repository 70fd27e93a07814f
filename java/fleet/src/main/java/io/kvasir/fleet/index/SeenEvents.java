package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Digests of the first and the last batches of a stream. They distinguish a repeated batch from a
 * different one under the same number; {@link EventStreams} describes the consequences. Not
 * thread-safe.
 */
final class SeenEvents {

  /** A power of two. Repeated batches arrive soon after the original. */
  private static final int KEPT = 64;

  /** In place of a digest: the batch was skipped, and may arrive late. */
  private static final long UNSEEN = 0;

  /** A batch and its number. */
  record Batch(long number, List<BlockEvent> events) {}

  private final long[] digests = new long[KEPT];
  private long base;
  private long baseDigest;

  /** The last batch, if it reused a number with different content; or null. */
  private @Nullable Batch odd;

  /** Starts at a number whose batch is about to be added or skipped. */
  void start(long number) {
    base = number;
    baseDigest = UNSEEN;
    odd = null;
  }

  /** Called for a batch with a new number. */
  void onNews() {
    odd = null;
  }

  void add(long number, List<BlockEvent> batch) {
    long digest = digest(batch);
    digests[slot(number)] = digest;
    if (number == base) {
      baseDigest = digest;
    }
  }

  /** Skips the batches from one number up to, but excluding, another. */
  void skip(long fromNumber, long toNumber) {
    long first =
        Long.compareUnsigned(toNumber - fromNumber, KEPT) > 0 ? toNumber - KEPT : fromNumber;
    for (long number = first; number != toNumber; number++) {
      digests[slot(number)] = UNSEEN;
    }
  }

  /**
   * Judges a batch with a number received before.
   *
   * @return the batch with which the sequence started over, this one or the last; null if this one
   *     is to be ignored
   */
  @Nullable Batch newStart(long number, long nextNumber, List<BlockEvent> batch) {
    if (same(number, nextNumber, batch)) {
      return null;
    }
    Batch before = odd;
    odd = new Batch(number, batch);
    int toBase = Long.compareUnsigned(number, base);
    if (number == 0 || toBase < 0 || (toBase == 0 && number != nextNumber - 1)) {
      return odd;
    }
    return before != null && Long.compareUnsigned(before.number(), number) < 0 ? before : null;
  }

  /** Whether a batch may be a repetition of the one received under its number. */
  private boolean same(long number, long nextNumber, List<BlockEvent> batch) {
    long digest = digest(batch);
    if (number == base && baseDigest != UNSEEN) {
      return digest == baseDigest;
    }
    return nextNumber - number <= KEPT
        && Long.compareUnsigned(number, base) >= 0
        && (digests[slot(number)] == digest || digests[slot(number)] == UNSEEN);
  }

  private static int slot(long number) {
    return (int) number & KEPT - 1;
  }

  private static long digest(List<BlockEvent> batch) {
    long digest = batch.size();
    for (BlockEvent event : batch) {
      digest = 31 * digest + digest(event);
    }
    return digest | 1;
  }

  /** Never {@link #UNSEEN}. */
  private static long digest(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      long seed = stored.root() ? ~stored.rootHash() : stored.parentHandle();
      long hashes = fold(stored.localHashes() != null ? 1 : 4, stored.hashes());
      return 31 * fold(seed, stored.handles()) + hashes | 1;
    }
    if (event instanceof BlockEvent.Aliased aliased) {
      return 31 * fold(5, aliased.handles()) + fold(6, aliased.of()) | 1;
    }
    if (event instanceof BlockEvent.GroupStored stored) {
      return fold(7, stored.handles()) | 1;
    }
    if (event instanceof BlockEvent.GroupRemoved removed) {
      return fold(8, removed.handles()) | 1;
    }
    return event instanceof BlockEvent.Removed removed ? fold(2, removed.handles()) | 1 : 3;
  }

  private static long fold(long seed, long[] words) {
    long hash = seed;
    for (long word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
    }
    return hash + words.length;
  }
}
