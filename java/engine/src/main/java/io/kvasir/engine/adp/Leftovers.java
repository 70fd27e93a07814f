package io.kvasir.engine.adp;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2DoubleLinkedOpenHashMap;

/**
 * How long requests are left over: the mean time from a placement to the end of the request, by
 * which a rank without room is expected to have some, and how long each request has waited.
 *
 * <p>Time is the duration of the worker's steps, which all members of a lock-step group know. Ends
 * do not show one by one; what shows are the numbers of active requests when batches are placed.
 * The mean is the time that all requests have spent on ranks for each that has ended, so requests
 * that still run count too.
 *
 * <p>Not thread-safe. O(1) for each call.
 */
final class Leftovers {

  /** Ends that the mean reaches back. */
  private static final double REACH = 1024;

  /**
   * Calls after which the head of the queue is placed even if it must wait for blocks on its rank.
   */
  private static final int MAX_CALLS = 1000;

  /**
   * Waiting requests that are remembered; the end of cancelled ones is not reported, so the oldest
   * go.
   */
  private static final int MOST_WAITING = 1 << 16;

  private double nowMs;
  private double countedMs;
  private long active;
  private double spentMs;
  private double ended;

  /** When each request was left over first, in that order. */
  private final Long2DoubleLinkedOpenHashMap since = new Long2DoubleLinkedOpenHashMap();

  /* The first request that the last call left over, and how many consecutive calls left it first. */
  private long headId;
  private int headCalls;

  /** A step of the worker has taken so long. */
  void stepped(double ms) {
    nowMs += ms;
  }

  /** A batch begins while so many requests are active. */
  void begin(long activeNow) {
    spentMs += (nowMs - countedMs) * (active + activeNow) / 2;
    countedMs = nowMs;
    ended += Math.max(0, active - activeNow);
    if (ended > REACH) {
      spentMs *= REACH / ended;
      ended = REACH;
    }
  }

  /** The batch has been placed, except so many requests; others are active now. */
  void end(long activeNow, int leftOver) {
    active = activeNow;
    headCalls = leftOver == 0 ? 0 : headCalls;
    while (since.size() > MOST_WAITING) {
      since.removeFirstDouble();
    }
  }

  /**
   * The expected time until a rank has room; infinite while nothing is known of ends.
   *
   * @param part the part of a mean stay after which it is expected to have room; 0 if it has
   */
  double untilRoomMs(double part) {
    if (part == 0) {
      return 0;
    }
    return ended == 0 || spentMs == 0 ? Double.POSITIVE_INFINITY : part * spentMs / ended;
  }

  /** How long a request has waited since it was left over first. */
  double waitedMs(long id) {
    return since.containsKey(id) ? nowMs - since.get(id) : 0;
  }

  /**
   * Leaves a request over, unless it has been the head of the queue for too many calls. Each of the
   * others becomes the head eventually.
   *
   * @param first whether it is the first one that this call leaves over
   * @return false if it must be placed
   */
  boolean leave(long id, boolean first) {
    if (first) {
      headCalls = id == headId ? headCalls + 1 : 1;
      headId = id;
      if (headCalls > MAX_CALLS) {
        return false;
      }
    }
    since.putIfAbsent(id, nowMs);
    return true;
  }

  /** A request has been placed. */
  void placed(long id) {
    since.remove(id);
  }

  long digest() {
    long digest = Digest64.fold(Digest64.fold(Digest64.EMPTY, headId), headCalls);
    digest = Digest64.fold(digest, Double.doubleToLongBits(nowMs));
    digest = Digest64.fold(digest, Double.doubleToLongBits(spentMs));
    return Digest64.fold(digest, since.size());
  }
}
