package io.kvasir.fleet.router.cost;

/**
 * Chooses the rank that serves a request.
 *
 * <p>A selector is a pure function of its arguments: no clock, no state that evolves, no randomness
 * that is not seeded by the request's id. So decisions can be repeated and explained. It runs while
 * the scheduler holds its lock, so it must be quick and must not wait; it is called by one thread
 * at a time.
 */
@FunctionalInterface
public interface WorkerSelector {

  /**
   * Chooses.
   *
   * @param candidates the eligible ranks, at least one
   * @param request who is to be served
   * @param trace takes the costs that were compared
   * @return the position of the chosen candidate
   */
  int select(Candidates candidates, SelectionRequest request, CostTrace trace);
}
