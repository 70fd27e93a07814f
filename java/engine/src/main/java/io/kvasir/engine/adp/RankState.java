package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;

/**
 * What one rank tells the others before a routing decision.
 *
 * <p>Immutable; a snapshot that may be stale.
 *
 * @param rank the rank's index in its worker, from 0
 * @param activeRequests requests that count for admission and load: those that the rank holds, each
 *     with its children, without retiring ones; with those in transfer if the router's {@code
 *     LoadMetric} counts them
 * @param activeTokens prompt tokens of those requests; which of them count is the router's {@code
 *     LoadMetric}
 * @param retiringRequests requests that have produced their last token but still linger: they count
 *     for liveness, not for admission
 * @param inTransferRequests how many of {@code activeRequests} only wait for their KV to be sent:
 *     they count for admission, not for liveness
 * @param queuedBlocks blocks that requests need which were placed here but hold none yet
 * @param occupancy the pool's occupancy, or null when unknown
 * @param iterationStats what the rank did last, or null
 * @param work what the rank has yet to compute, or null when unknown
 */
public record RankState(
    int rank,
    int activeRequests,
    long activeTokens,
    int retiringRequests,
    int inTransferRequests,
    long queuedBlocks,
    Occupancy occupancy,
    IterationStats iterationStats,
    RankWork work) {

  /**
   * A state of which only the load is known: no occupancy, nothing that retires or is in transfer.
   *
   * @param rank the rank's index
   * @param activeRequests requests the rank holds
   * @param activeTokens their tokens
   */
  public RankState(int rank, int activeRequests, long activeTokens) {
    this(rank, activeRequests, activeTokens, 0, 0, 0, null, null, null);
  }

  /**
   * Requests for which the rank must go on iterating. While this is 0 on all ranks and nobody
   * waits, a worker may block until something arrives.
   *
   * @return active requests without those in transfer, and retiring ones
   */
  public int liveRequests() {
    return activeRequests - inTransferRequests + retiringRequests;
  }

  /**
   * This state with statistics of an iteration.
   *
   * @param stats the statistics; null changes nothing
   * @return the state
   */
  public RankState withIterationStats(IterationStats stats) {
    return stats == null
        ? this
        : new RankState(
            rank,
            activeRequests,
            activeTokens,
            retiringRequests,
            inTransferRequests,
            queuedBlocks,
            occupancy,
            stats,
            work);
  }

  /**
   * This state with the pool's occupancy.
   *
   * @param blocksQueued blocks that requests need which hold none yet
   * @param pool the occupancy, or null
   * @return the state
   */
  public RankState withOccupancy(long blocksQueued, Occupancy pool) {
    return new RankState(
        rank,
        activeRequests,
        activeTokens,
        retiringRequests,
        inTransferRequests,
        blocksQueued,
        pool,
        iterationStats,
        work);
  }

  /**
   * This state with what the rank has yet to compute.
   *
   * @param left the work, or null
   * @return the state
   */
  public RankState withWork(RankWork left) {
    return new RankState(
        rank,
        activeRequests,
        activeTokens,
        retiringRequests,
        inTransferRequests,
        queuedBlocks,
        occupancy,
        iterationStats,
        left);
  }
}
