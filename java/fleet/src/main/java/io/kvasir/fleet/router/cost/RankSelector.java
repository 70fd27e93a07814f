package io.kvasir.fleet.router.cost;

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
   * @return the position of the chosen candidate
   */
  int select(Candidates candidates, FleetRequest request, CostTrace trace);
}
