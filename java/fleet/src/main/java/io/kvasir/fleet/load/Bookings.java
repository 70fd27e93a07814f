package io.kvasir.fleet.load;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The attempts in flight, by their numbers and by their requests. Not thread-safe. O(1) where
 * nothing else is said.
 */
final class Bookings {

  private final Long2ObjectOpenHashMap<Booking> byAttempt = new Long2ObjectOpenHashMap<>();
  private final Long2LongOpenHashMap attemptByRequest = new Long2LongOpenHashMap();
  private long lastAttempt;

  int size() {
    return byAttempt.size();
  }

  /** The attempt in flight of a request, or 0. */
  long attemptOf(long requestId) {
    return attemptByRequest.get(requestId);
  }

  /** An attempt in flight, or null. A look is a sign of its life. */
  @Nullable Booking touch(long attempt) {
    Booking booking = byAttempt.get(attempt);
    if (booking != null) {
      booking.touched = true;
    }
    return booking;
  }

  /** An attempt in flight, or null. A look is no sign of its life. */
  @Nullable Booking get(long attempt) {
    return byAttempt.get(attempt);
  }

  /** The highest number of an attempt so far; 0 before the first. */
  long lastAttempt() {
    return lastAttempt;
  }

  /** The attempts of requests that this router has placed, in the order of their numbers. */
  List<Booking> own() {
    List<Booking> own = which(booking -> !booking.foreign);
    own.sort(Comparator.comparingLong(booking -> booking.attempt));
    return own;
  }

  /** Begins an attempt of a request that has none in flight. Numbers begin with 1. */
  Booking open(long requestId, int rank, SequenceRun end, long nowNs) {
    Booking booking = new Booking(++lastAttempt, false, requestId, rank, end, nowNs);
    byAttempt.put(booking.attempt, booking);
    attemptByRequest.put(requestId, booking.attempt);
    return booking;
  }

  /** Begins an attempt of a request that has no id here. */
  Booking openForeign(int rank, SequenceRun end, long nowNs) {
    Booking booking = new Booking(++lastAttempt, true, 0, rank, end, nowNs);
    byAttempt.put(booking.attempt, booking);
    return booking;
  }

  boolean inFlight(long attempt) {
    return byAttempt.containsKey(attempt);
  }

  /** Ends an attempt; null if it is not in flight. */
  @Nullable Booking close(long attempt) {
    Booking booking = byAttempt.remove(attempt);
    if (booking != null && !booking.foreign) {
      attemptByRequest.remove(booking.requestId);
    }
    return booking;
  }

  /** The attempts on a rank. O(attempts). */
  List<Booking> on(int rank) {
    return which(booking -> booking.rank == rank);
  }

  /** The attempts whose last sign of life, by the look that found it, is so long ago. */
  List<Booking> stale(long nowNs, long ageNs) {
    return which(
        booking -> {
          if (booking.touched) {
            booking.touched = false;
            booking.aliveNs = nowNs;
          }
          return nowNs - booking.aliveNs >= ageNs;
        });
  }

  private List<Booking> which(Predicate<Booking> condition) {
    List<Booking> found = new ArrayList<>();
    for (Booking booking : byAttempt.values()) {
      if (condition.test(booking)) {
        found.add(booking);
      }
    }
    return found;
  }
}
