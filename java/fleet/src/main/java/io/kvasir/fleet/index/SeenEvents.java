package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import org.jspecify.annotations.Nullable;

/**
 * Digests of the first and the last events of a stream. They distinguish a repeated event from a
 * different event under the same number; {@link EventStreams} describes the consequences. Not
 * thread-safe.
 */
final class SeenEvents {

  /** A power of two. Repeated events arrive soon after the original. */
  private static final int KEPT = 64;

  /** In place of a digest: the event was skipped, and may arrive late. */
  private static final long UNSEEN = 0;

  /** An event and its number. */
  record Event(long eventId, BlockEvent event) {}

  private final long[] digests = new long[KEPT];
  private long base;
  private long baseDigest;

  /** The last event, if it reused a number with different content; or null. */
  private @Nullable Event odd;

  /** Starts at an event. */
  void start(long eventId, BlockEvent event) {
    base = eventId;
    baseDigest = digest(event);
    odd = null;
  }

  /** Called for an event with a new number. */
  void onNews() {
    odd = null;
  }

  void add(long eventId, BlockEvent event) {
    digests[slot(eventId)] = digest(event);
  }

  /** Skips the events from one number up to, but excluding, another. */
  void skip(long fromEventId, long toEventId) {
    long first =
        Long.compareUnsigned(toEventId - fromEventId, KEPT) > 0 ? toEventId - KEPT : fromEventId;
    for (long eventId = first; eventId != toEventId; eventId++) {
      digests[slot(eventId)] = UNSEEN;
    }
  }

  /**
   * Judges an event with a number received before.
   *
   * @return the event with which the sequence started over, this one or the last; null if this one
   *     is to be ignored
   */
  @Nullable Event newStart(long eventId, long nextEventId, BlockEvent event) {
    if (same(eventId, nextEventId, event)) {
      return null;
    }
    Event before = odd;
    odd = new Event(eventId, event);
    int toBase = Long.compareUnsigned(eventId, base);
    if (eventId == 0 || toBase < 0 || (toBase == 0 && eventId != nextEventId - 1)) {
      return odd;
    }
    return before != null && Long.compareUnsigned(before.eventId(), eventId) < 0 ? before : null;
  }

  /** Whether an event may be a repetition of the one received under its number. */
  private boolean same(long eventId, long nextEventId, BlockEvent event) {
    long digest = digest(event);
    if (eventId == base) {
      return digest == baseDigest;
    }
    return nextEventId - eventId <= KEPT
        && Long.compareUnsigned(eventId, base) > 0
        && (digests[slot(eventId)] == digest || digests[slot(eventId)] == UNSEEN);
  }

  private static int slot(long eventId) {
    return (int) eventId & KEPT - 1;
  }

  /** Never {@link #UNSEEN}. */
  private static long digest(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      long seed = stored.root() ? ~stored.rootHash() : stored.parentHandle();
      long hashes = fold(stored.localHashes() != null ? 1 : 4, stored.hashes());
      return 31 * fold(seed, stored.handles()) + hashes | 1;
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
