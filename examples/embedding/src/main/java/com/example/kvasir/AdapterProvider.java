package com.example.kvasir;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.Worker;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Digest64;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Policy {@code adapter}: sends each LoRA adapter to one worker. */
public final class AdapterProvider implements FleetRouterProvider {

  /** For the service loader. */
  public AdapterProvider() {}

  @Override
  public String name() {
    return "adapter";
  }

  @Override
  public List<String> keys() {
    return List.of(); // it has no args
  }

  @Override
  public boolean choosesRanks() {
    return false; // placements name a worker and any of its ranks
  }

  @Override
  public boolean followsBlocks() {
    return false;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    new RouterArgs(name(), args, keys()); // refuses unknown keys
    return new AdapterRouter();
  }

  private static final class AdapterRouter extends WorkerRouter<Worker> {

    @Override
    public String name() {
      return "adapter";
    }

    @Override
    protected Worker newWorker(long workerId) {
      return new Worker(workerId);
    }

    @Override
    public RouteOutcome route(FleetRequest request) {
      synchronized (lock()) {
        List<Worker> candidates = candidates(request.filter());
        if (candidates.isEmpty()) {
          return noCandidate(request.filter());
        }
        CacheScope scope = request.scope();
        Worker worker =
            scope.hasLora()
                ? home(scope.loraTaskId(), candidates)
                : cheapest(request.filter(), candidates, Worker::activeRequests);
        Reason reason = scope.hasLora() ? Reason.SCORE : Reason.LOAD;
        return placed(request, worker, 1, reason, candidates.size());
      }
    }

    /** The worker with the highest hash of worker and adapter. */
    private static Worker home(long adapter, List<Worker> candidates) {
      return Collections.max(
          candidates,
          Comparator.comparingLong(worker -> Digest64.fold(worker.id().workerId(), adapter)));
    }
  }
}
