package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;

/**
 * Chooses the rank that serves a request.
 *
 * <p>A selector is a pure function of its arguments, and of what it has learned if it is a {@link
 * PlacementListener} too: no randomness except by the request's id, and no clock except the
 * router's. So decisions can be repeated and explained. It runs under the router's lock, so it must
 * be quick and must not wait; one thread calls it at a time.
 */
@FunctionalInterface
public interface RankSelector {

  /**
   * Chooses a candidate.
   *
   * @param candidates the eligible ranks, at least one
   * @param request the request
   * @param trace receives the costs that were compared
   * @return the chosen candidate
   */
  Selection select(Candidates candidates, FleetRequest request, CostTrace trace);

  /**
   * The time to compute a prompt on a rank of usual speed that does nothing else. For queues that
   * look at deadlines.
   *
   * @param uncachedTokens its tokens to compute
   * @param contextTokens its tokens that need not be computed
   * @return milliseconds; 0 if the selector does not predict times
   */
  default double promptMs(long uncachedTokens, long contextTokens) {
    return 0;
  }

  /**
   * The times until the ranks have computed the prompts placed on them.
   *
   * @return milliseconds, one for each rank in any order; empty if the selector does not predict
   *     times
   */
  default double[] backlogsMs() {
    return new double[0];
  }

  /**
   * How likely a request is to meet its targets.
   *
   * @param candidates the eligible ranks, at least one
   * @param request the request
   * @return the probability on the best candidate, 0 to 1; 1 if the selector does not predict times
   */
  default double likelihood(Candidates candidates, FleetRequest request) {
    return 1;
  }
}
