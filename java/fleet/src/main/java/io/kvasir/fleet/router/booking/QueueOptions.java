package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.Checks;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether, and how, requests wait while every eligible rank has too much prefill. Immutable.
 *
 * @param queueThreshold requests wait while every eligible rank's active prefill exceeds this
 *     multiple of {@link RankCapacity#maxNumBatchedTokens()}; null: they never wait
 * @param queuePolicy which request goes first
 * @param maxQueuedRequests requests that may wait
 * @param maxQueuedTokens prompt tokens that may wait; the request that crosses the limit still
 *     waits, the next is refused
 * @param matchRefreshAfterNs requests that waited longer than this, in nanoseconds, are matched
 *     again before a rank is chosen; 0: never
 */
public record QueueOptions(
    @Nullable Double queueThreshold,
    QueuePolicy queuePolicy,
    int maxQueuedRequests,
    long maxQueuedTokens,
    long matchRefreshAfterNs) {

  /** Stands for {@link RankCapacity#maxNumBatchedTokens()} where that is unknown. */
  public static final long UNKNOWN_MAX_NUM_BATCHED_TOKENS = 10_000_000;

  private static final int DEFAULT_MAX_QUEUED_REQUESTS = 10_000;
  private static final long DEFAULT_MAX_QUEUED_TOKENS = 1L << 30;

  /** Requests never wait. */
  public static final QueueOptions OFF = of(null, QueuePolicy.FCFS);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the option that is out of range, what is allowed and
   *     what was given
   */
  public QueueOptions {
    if (queueThreshold != null) {
      Checks.finiteAtLeast0("queueThreshold", queueThreshold);
    }
    Objects.requireNonNull(queuePolicy, "queuePolicy");
    Checks.atLeast("maxQueuedRequests", maxQueuedRequests, 1);
    Checks.atLeast("maxQueuedTokens", maxQueuedTokens, 1);
    Checks.atLeast("matchRefreshAfterNs", matchRefreshAfterNs, 0);
  }

  /**
   * Options with bounds of 10,000 requests and 2^30 tokens, and matches refreshed after 10 s.
   *
   * @param queueThreshold see {@link #queueThreshold()}
   * @param queuePolicy which request goes first
   * @return the options
   * @throws IllegalArgumentException if the threshold is not finite and at least 0
   */
  public static QueueOptions of(@Nullable Double queueThreshold, QueuePolicy queuePolicy) {
    return new QueueOptions(
        queueThreshold,
        queuePolicy,
        DEFAULT_MAX_QUEUED_REQUESTS,
        DEFAULT_MAX_QUEUED_TOKENS,
        Duration.ofSeconds(10).toNanos());
  }

  /**
   * Whether a rank has room for a request that may wait. O(1).
   *
   * @param activePrefillTokens its prompt tokens that are still to be computed
   * @param capacity its capacity
   * @return true unless its active prefill exceeds the threshold
   */
  boolean hasRoom(long activePrefillTokens, RankCapacity capacity) {
    long batch =
        capacity.maxNumBatchedTokens() > 0
            ? capacity.maxNumBatchedTokens()
            : UNKNOWN_MAX_NUM_BATCHED_TOKENS;
    return queueThreshold == null || activePrefillTokens <= queueThreshold * batch;
  }
}
