package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import org.jspecify.annotations.Nullable;

/**
 * The state of one rank that a routing decision reads.
 *
 * <p>Immutable; a snapshot that may be stale.
 *
 * @param rank the rank's index in its worker, from 0
 * @param activeRequests requests that count for admission and load: all on the rank, with their
 *     children, except retiring ones. Requests in transfer are included if the router's {@code
 *     LoadMetric} counts them
 * @param activeTokens prompt tokens of those requests, counted as the router's {@code LoadMetric}
 *     defines
 * @param retiringRequests requests that have produced their last token but have not left: they
 *     count for liveness, not for admission
 * @param inTransferRequests those of {@code activeRequests} whose KV is being sent: they count for
 *     admission, not for liveness
 * @param queuedBlocks blocks needed by requests that are placed here but have no blocks yet
 * @param occupancy the pool's occupancy, or null when unknown
 * @param iterationStats statistics of the rank's last iteration, or null
 * @param work the work left on the rank, or null when unknown
 */
public record RankState(
    int rank,
    int activeRequests,
    long activeTokens,
    int retiringRequests,
    int inTransferRequests,
    long queuedBlocks,
    @Nullable Occupancy occupancy,
    @Nullable IterationStats iterationStats,
    @Nullable RankWork work) {

  /**
   * A state with a known load only: no occupancy, and no retiring requests or requests in transfer.
   *
   * @param rank the rank's index
   * @param activeRequests requests on the rank
   * @param activeTokens their tokens
   */
  public RankState(int rank, int activeRequests, long activeTokens) {
    this(rank, activeRequests, activeTokens, 0, 0, 0, null, null, null);
  }

  /**
   * Requests for which the rank must keep iterating. While this is 0 on all ranks and the queue is
   * empty, a worker may block until a request arrives.
   *
   * @return active requests except those in transfer, plus retiring ones
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
  public RankState withIterationStats(@Nullable IterationStats stats) {
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
   * @param blocksQueued blocks needed by requests that have no blocks yet
   * @param pool the occupancy, or null
   * @return the state
   */
  public RankState withOccupancy(long blocksQueued, @Nullable Occupancy pool) {
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
   * This state with the work left on the rank.
   *
   * @param left the work, or null
   * @return the state
   */
  public RankState withWork(@Nullable RankWork left) {
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
