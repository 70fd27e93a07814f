package io.kvasir.simulator.replay;

/**
 * What one rank did in a replay.
 *
 * <p>Immutable.
 *
 * @param requests requests that were placed on it, also those that it gave back when it was lost
 * @param inputTokens prompt tokens of those it started
 * @param cachedTokens prompt tokens of those that its pool already held
 * @param busyNs modelled time that it computed
 * @param peakActiveBlocks most blocks that were leased at the same time
 * @param capacityBlocks blocks of its pool
 * @param evictedBlocks cached blocks that gave way to others
 * @param preemptions times that a running request was paused
 * @param peakInTransferRequests most requests whose KV was being sent at the same time
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
    long peakInTransferRequests) {

  /**
   * Share of its prompt tokens that came from its cache.
   *
   * @return 0 to 1, NaN if it started nothing
   */
  public double tokenHitRate() {
    return (double) cachedTokens / inputTokens;
  }
}
