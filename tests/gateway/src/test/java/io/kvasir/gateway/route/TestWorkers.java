package io.kvasir.gateway.route;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;

/** Workers that serve the model {@code m} and receive no requests. */
final class TestWorkers {

  private TestWorkers() {}

  /** Makes healthy workers. */
  static List<FleetWorker> healthy(int count, BreakerSettings settings) {
    List<FleetWorker> workers = new ArrayList<>();
    for (int id = 0; id < count; id++) {
      WorkerSpec spec = WorkerSpec.parse("http://w" + id + ":1");
      FleetWorker worker =
          new FleetWorker(id, spec.name(), spec, new NoUpstream(), null, new Breaker(settings));
      worker.serves(Set.of("m"), WorkerFacts.NONE);
      worker.onHealthy();
      workers.add(worker);
    }
    return workers;
  }

  private static final class NoUpstream implements Upstream {

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      throw new AssertionError("no request is sent");
    }

    @Override
    public void close() {}
  }
}
