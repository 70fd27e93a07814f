package io.kvasir.fleet.router;

import java.util.List;
import java.util.Map;

/** A custom policy: the first worker that may serve the request. */
public final class OwnRouterProvider implements FleetRouterProvider {

  @Override
  public String name() {
    return "first";
  }

  @Override
  public List<String> keys() {
    return List.of();
  }

  @Override
  public boolean choosesRanks() {
    return false;
  }

  @Override
  public boolean followsBlocks() {
    return false;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    return new First();
  }

  private static final class First extends WorkerRouter<Worker> {
    @Override
    public String name() {
      return "first";
    }

    @Override
    protected Worker newWorker(long workerId) {
      return new Worker(workerId);
    }

    @Override
    public RouteOutcome route(FleetRequest request) {
      synchronized (lock()) {
        List<Worker> candidates = candidates(request.filter());
        return candidates.isEmpty()
            ? noCandidate(request.filter())
            : placed(request, candidates.get(0), 1, Reason.ONLY_CANDIDATE, candidates.size());
      }
    }
  }
}
