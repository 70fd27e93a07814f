package io.kvasir.gateway.route;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerSpec;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

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

  /**
   * Makes a router that places nothing.
   *
   * @param calls sees the names and arguments of its calls
   */
  static FleetRouter router(BiConsumer<String, Object[]> calls) {
    return (FleetRouter)
        Proxy.newProxyInstance(
            FleetRouter.class.getClassLoader(),
            new Class<?>[] {FleetRouter.class},
            (proxy, method, arguments) -> {
              calls.accept(method.getName(), arguments);
              return true;
            });
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
