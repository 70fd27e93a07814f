package io.kvasir.gateway;

import io.kvasir.exchange.EngineTrust;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.http.HttpUpstream;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.route.Breaker;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.Renderer;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.KeyedUpstream;
import io.kvasir.gateway.worker.RendererSpec;
import io.kvasir.gateway.worker.WorkerSpec;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the workers of a gateway and the ways to them. No number of a worker is given twice.
 * Thread-safe. The caller owns all that it makes, except renderers, which are closed with {@code
 * vertx}.
 */
final class WorkerConnections {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerConnections.class);

  private final GatewaySettings.Health health;
  private final Vertx vertx;
  private final LongSupplier clockNs;

  /** Guarded by this, as is {@link #next}. */
  private final Map<RendererSpec, Renderer> renderers = new HashMap<>();

  private int next;

  /**
   * Begins without workers.
   *
   * @param vertx opens connections
   * @param clockNs the time by which connections count as stale, in nanoseconds
   */
  WorkerConnections(GatewaySettings.Health health, Vertx vertx, LongSupplier clockNs) {
    this.health = health;
    this.vertx = vertx;
    this.clockNs = clockNs;
  }

  /** The workers of this process, then engines behind HTTP. */
  List<FleetWorker> open(List<LocalWorker> local, Collection<WorkerSpec> specs) {
    List<FleetWorker> workers = new ArrayList<>();
    for (LocalWorker worker : local) {
      workers.add(worker(worker.name(), WorkerSpec.inProcess(), worker.upstream(), null));
    }
    specs.forEach(spec -> workers.add(open(spec)));
    return workers;
  }

  /** An engine behind HTTP. */
  FleetWorker open(WorkerSpec spec) {
    RendererSpec renderer = spec.renderer();
    if (spec.trust().isAny()) {
      LOG.warn("worker {}: any certificate is accepted (insecure=true)", spec.name());
    }
    if (renderer != null && renderer.trust().isAny()) {
      LOG.warn(
          "worker {}: any certificate of its renderer is accepted (renderer_insecure=true)",
          spec.name());
    }
    Upstream engine = upstream(spec.url(), spec.apiKey(), spec.trust());
    return worker(spec.name(), spec, engine, renderer(renderer));
  }

  private synchronized FleetWorker worker(
      String name, WorkerSpec spec, Upstream upstream, @Nullable Renderer renderer) {
    return new FleetWorker(next++, name, spec, upstream, renderer, new Breaker(health.breaker()));
  }

  private synchronized @Nullable Renderer renderer(@Nullable RendererSpec of) {
    return of == null
        ? null
        : renderers.computeIfAbsent(
            of, any -> new Renderer(any, upstream(any.url(), any.apiKey(), any.trust())));
  }

  private Upstream upstream(URI url, @Nullable ApiKey key, EngineTrust trust) {
    Upstream http = new HttpUpstream(vertx, url, trust, health.connectTimeoutMs(), clockNs);
    return key == null ? http : new KeyedUpstream(http, key);
  }

  /** How prompts move between workers. */
  Transfers transfers(DisaggSettings disagg) {
    return new Transfers(
        disagg,
        url -> new HttpUpstream(vertx, url, EngineTrust.JAVA, health.connectTimeoutMs(), clockNs),
        health.timeoutMs());
  }
}
