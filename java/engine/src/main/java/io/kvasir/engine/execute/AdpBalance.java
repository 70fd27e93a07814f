package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.model.Checks;
import org.jspecify.annotations.Nullable;

/**
 * Delays prefill while the ranks of a worker are out of balance ({@code enable_balance}), so that
 * prefilling ranks do not slow down decoding ones.
 *
 * <p>Every process calls it once per iteration with the gathered counts of all ranks, so its
 * counters and results are the same in all processes. O(ranks). Not thread-safe.
 */
public final class AdpBalance {

  private final int maxBatchSize;
  private final int timeoutIters;
  private final int batchingWaitIters;
  private final int minGenerationRequests;
  private final int lowOccupancyTimeoutIters;

  /** Consecutive iterations of delay because some rank had nothing to prefill or was full. */
  private int waited;

  /** Iterations of delay although all ranks could prefill, to gather larger batches. */
  private int batched;

  /**
   * The requests that one rank would schedule.
   *
   * @param contextRequests requests that would prefill
   * @param generationRequests requests that decode, padding included
   * @param realGenerationRequests requests that decode, without padding
   */
  public record Scheduled(int contextRequests, int generationRequests, int realGenerationRequests) {

    /**
     * A rank without requests: it takes part in iterations with one padding request, which decodes.
     */
    static final Scheduled PADDING = new Scheduled(0, 1, 0);
  }

  /**
   * Creates the balance for a configuration.
   *
   * @param config the configuration
   * @param maxBatchSize most requests that a rank decodes, at least 1
   * @return a new balance; null if balancing is not enabled
   * @throws IllegalArgumentException naming the setting that is out of range
   */
  public static @Nullable AdpBalance of(AttentionDpConfig config, int maxBatchSize) {
    return config.enableBalance()
        ? new AdpBalance(
            maxBatchSize,
            config.timeoutIters(),
            config.batchingWaitIters(),
            config.minGenerationRequests(),
            config.lowOccupancyTimeoutIters())
        : null;
  }

  /**
   * Creates a balance.
   *
   * @param maxBatchSize most requests that a rank decodes, at least 1
   * @param timeoutIters most iterations to wait for all ranks, at least 0
   * @param batchingWaitIters iterations to wait for larger batches, at least 0
   * @param minGenerationRequests decoding requests of a rank below which {@code
   *     lowOccupancyTimeoutIters} applies; 0 to {@code maxBatchSize}, 0 for never
   * @param lowOccupancyTimeoutIters most iterations to wait in that case, 0 to {@code timeoutIters}
   * @throws IllegalArgumentException naming the setting that is out of range
   */
  public AdpBalance(
      int maxBatchSize,
      int timeoutIters,
      int batchingWaitIters,
      int minGenerationRequests,
      int lowOccupancyTimeoutIters) {
    Checks.atLeast("maxBatchSize", maxBatchSize, 1);
    Checks.atLeast("timeout_iters", timeoutIters, 0);
    Checks.atLeast("batching_wait_iters", batchingWaitIters, 0);
    Checks.within(
        "TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS", minGenerationRequests, 0, maxBatchSize);
    Checks.within(
        "TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS", lowOccupancyTimeoutIters, 0, timeoutIters);
    this.maxBatchSize = maxBatchSize;
    this.timeoutIters = timeoutIters;
    this.batchingWaitIters = batchingWaitIters;
    this.minGenerationRequests = minGenerationRequests;
    this.lowOccupancyTimeoutIters = lowOccupancyTimeoutIters;
  }

  /**
   * Whether to delay prefill in this iteration; decoding continues.
   *
   * @param ranks the requests that each rank would schedule
   * @return true if no rank may prefill now
   */
  public boolean hold(Iterable<Scheduled> ranks) {
    boolean allPrefill = true;
    boolean allDecode = true;
    boolean anyFull = false;
    int fewestReal = Integer.MAX_VALUE;
    for (Scheduled rank : ranks) {
      allPrefill &= rank.contextRequests() > 0;
      allDecode &= rank.generationRequests() > 0;
      anyFull |= rank.generationRequests() >= maxBatchSize;
      fewestReal = Math.min(fewestReal, rank.realGenerationRequests());
    }
    return (allPrefill && !anyFull)
        ? holdForBatch(allDecode)
        : holdForOthers(allDecode, fewestReal);
  }

  /** A digest of its counters. */
  long stateDigest() {
    return (long) waited << Integer.SIZE | batched;
  }

  private boolean holdForBatch(boolean allDecode) {
    waited = 0;
    if (!allDecode) {
      return false;
    }
    if (batched < batchingWaitIters) {
      batched++;
      return true;
    }
    batched = 0;
    return false;
  }

  private boolean holdForOthers(boolean allDecode, int fewestReal) {
    waited++;
    int timeout = fewestReal < minGenerationRequests ? lowOccupancyTimeoutIters : timeoutIters;
    if (waited < timeout && allDecode) {
      return true;
    }
    waited = 0;
    return false;
  }
}
