package io.kvasir.fleet.router;

import java.util.List;

/**
 * Takes the workers in turn. A turn that falls on an excluded worker passes to the next one.
 *
 * <p>Thread-safe. O(workers) a choice. Load is the number of requests; it does not affect the
 * choice.
 */
public final class RoundRobin extends WorkerRouter<Worker> {

  /** Name of the policy. */
  static final String NAME = "round_robin";

  /** Makes a router without workers. */
  public RoundRobin() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  protected Worker newWorker(long workerId) {
    return new Worker(workerId);
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    RankFilter filter = request.filter();
    synchronized (lock()) {
      List<Worker> candidates = candidates(filter);
      if (candidates.isEmpty()) {
        return noCandidate(filter);
      }
      Worker worker = filter.isPinned() ? candidates.get(0) : next(filter);
      return placed(request, worker, 1, Reason.ROUND_ROBIN, candidates.size());
    }
  }

  private Worker next(RankFilter filter) {
    List<Worker> all = workers();
    Worker worker;
    do {
      worker = all.get((int) (takeTurn() % all.size()));
    } while (!worker.isAllowedBy(filter));
    return worker;
  }
}
