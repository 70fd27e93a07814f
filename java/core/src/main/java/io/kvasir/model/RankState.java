package io.kvasir.model;

/**
 * What one rank tells the others before a routing decision.
 *
 * <p>Immutable; a snapshot that may be stale.
 *
 * @param rank the rank's index in its instance, from 0
 * @param activeRequests requests the rank holds, retiring ones excluded
 * @param activeTokens prompt tokens of those requests; which of them count is the router's {@code
 *     LoadMetric}
 * @param retiringRequests requests that have produced their last token but still linger: they count
 *     for liveness, not for admission
 * @param occupancy the pool's occupancy, or null when unknown
 */
public record RankState(
    int rank, int activeRequests, long activeTokens, int retiringRequests, Occupancy occupancy) {

  /**
   * A state without occupancy and without retiring requests.
   *
   * @param rank the rank's index
   * @param activeRequests requests the rank holds
   * @param activeTokens their tokens
   */
  public RankState(int rank, int activeRequests, long activeTokens) {
    this(rank, activeRequests, activeTokens, 0, null);
  }
}
