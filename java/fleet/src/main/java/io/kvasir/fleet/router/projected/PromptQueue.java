package io.kvasir.fleet.router.projected;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The prompts on one rank that have no first token yet, in the order in which they were placed.
 *
 * <p>Not thread-safe.
 */
final class PromptQueue {

  /*
   * A prompt whose answer streams and that takes longer than expected stays in the queue, because
   * the rank may be slow or stuck. With no other information, the remaining delay is estimated as
   * the delay so far (Lindy's law). So a hung rank stops receiving requests once its oldest prompt
   * is late by more than the wait on another rank, and its next first token restores it.
   *
   * A prompt leaves the queue without a first token if its end is not reported, after the expected
   * time; and after three times the expected time if its answer does not stream, or the rank has
   * computed a prompt that was placed later, or has reported a step without work since. The router
   * ends attempts that show no sign of life for longer.
   */

  private static final double NS_PER_MS = 1e6;

  private static final long NEVER = Long.MAX_VALUE;

  /** No prompt takes longer. */
  private static final double MOST_NS = 1e18;

  private final Deque<Attempt> prompts = new ArrayDeque<>();
  private double expectedMs;
  private long tokens;

  /** When that prompt was placed that was placed last of those that the rank has computed. */
  private long computedNs = Long.MIN_VALUE;

  /** When the rank has last reported a step without work. */
  private long idleNs = Long.MIN_VALUE;

  /* Of the first prompt, kept here because each choice reads it of every rank. */
  private boolean headKnown;
  private double headMs;
  private long headBeganNs;
  private long headDueNs;
  private long headOverNs;

  void add(Attempt attempt) {
    headKnown = false;
    prompts.addLast(attempt);
    expectedMs += attempt.expectedMs;
    tokens += attempt.uncached;
  }

  /** A prompt is no longer in the queue. */
  void remove(Attempt attempt) {
    headKnown = false;
    if (attempt.queued) {
      attempt.queued = false;
      prompts.remove(attempt);
      expectedMs = prompts.isEmpty() ? 0 : expectedMs - attempt.expectedMs;
      tokens -= attempt.uncached;
    }
  }

  boolean isEmpty() {
    return prompts.isEmpty();
  }

  /** The prompt that was placed first; null if there is none. */
  @Nullable Attempt first() {
    return prompts.peekFirst();
  }

  /** The time that all of them were expected to take. */
  double expectedMs() {
    return expectedMs;
  }

  /** Their tokens to compute. */
  long tokens() {
    return tokens;
  }

  /** When the first one was placed; the largest number if there is none. */
  long beganNs() {
    Attempt first = prompts.peekFirst();
    return first == null ? NEVER : first.placedNs;
  }

  /** The rank has computed a prompt. */
  void computed(Attempt attempt) {
    headKnown = false;
    computedNs = Math.max(computedNs, attempt.placedNs);
  }

  /** The rank has reported a step without work. */
  void idle(long nowNs) {
    headKnown = false;
    idleNs = nowNs;
  }

  /**
   * The first prompt if it counts as computed by now, although that was not reported.
   *
   * @param endedNs when the last prompt before it ended, as far as is known
   * @param nowNs the time
   */
  @Nullable Attempt firstOver(long endedNs, long nowNs) {
    readHead(endedNs);
    return nowNs >= headOverNs ? prompts.peekFirst() : null;
  }

  private void readHead(long endedNs) {
    if (headKnown) {
      return;
    }
    headKnown = true;
    headOverNs = NEVER;
    Attempt first = prompts.peekFirst();
    if (first == null) {
      headMs = 0;
      headDueNs = NEVER;
      return;
    }
    headMs = first.expectedMs;
    headBeganNs = Math.max(first.placedNs, endedNs);
    long endNs = after(headBeganNs, headMs);
    headDueNs =
        first.streaming ? Math.max(endNs, after(first.placedNs, first.firstTokenMs)) : NEVER;
    long overNs = after(first.placedNs, first.overdueMs) + 1;
    if (!first.streaming || computedNs > first.placedNs || idleNs >= overNs) {
      headOverNs = overNs;
    }
    if (!first.awaited) {
      headOverNs = Math.min(headOverNs, endNs);
    }
  }

  private static long after(long ns, double ms) {
    return ns + (long) Math.min(MOST_NS, ms * NS_PER_MS);
  }

  /**
   * When the first prompt should have been computed; the largest number if there is none.
   *
   * @param endedNs when the last prompt before it ended, as far as is known
   */
  long dueNs(long endedNs) {
    readHead(endedNs);
    return headDueNs;
  }

  /** The time until all are expected to be computed, by what {@link #firstOver} has read. */
  double leftMs(long nowNs) {
    if (prompts.isEmpty()) {
      return 0;
    }
    double ownMs =
        Math.max(RankForecast.LEAST_LEFT * headMs, headMs - (nowNs - headBeganNs) / NS_PER_MS);
    double lateMs = (nowNs - headDueNs) / NS_PER_MS;
    return Math.max(0, expectedMs - headMs) + Math.max(ownMs, lateMs);
  }
}
