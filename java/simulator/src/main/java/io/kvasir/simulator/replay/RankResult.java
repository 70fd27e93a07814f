package io.kvasir.simulator.replay;

/**
 * Measurements of one rank in a replay.
 *
 * <p>Immutable.
 *
 * @param requests requests placed on the rank, including those returned when it was retired
 * @param inputTokens prompt tokens of the requests it started
 * @param cachedTokens prompt tokens of those requests that came from its cache
 * @param busyNs modelled time spent computing
 * @param peakActiveBlocks most blocks leased at the same time
 * @param capacityBlocks blocks of its pool
 * @param evictedBlocks cached blocks that were evicted
 * @param preemptions times that a running request was paused
 * @param peakInTransferRequests most requests in transfer at the same time
 * @param load its busy time over the replay
 */
public record RankResult(
    long requests,
    long inputTokens,
    long cachedTokens,
    long busyNs,
    long peakActiveBlocks,
    long capacityBlocks,
    long evictedBlocks,
    long preemptions,
    long peakInTransferRequests,
    LoadOverTime load) {

  /**
   * {@return the share of its prompt tokens that came from its cache, 0 to 1; NaN if it started
   * nothing}
   */
  public double tokenHitRate() {
    return (double) cachedTokens / inputTokens;
  }
}
