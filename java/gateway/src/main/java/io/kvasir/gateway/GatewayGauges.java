package io.kvasir.gateway;

import io.kvasir.exchange.http.ConnectionLimit;
import io.kvasir.gateway.events.ReplicaLink;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleets;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The metrics that are read from the gateway's parts when they are asked for.
 *
 * @param metrics the metrics that they belong to
 */
record GatewayGauges(GatewayMetrics metrics) {

  /**
   * Adds those of requests, and of what is written about them.
   *
   * @param queuedByRouters the requests that wait in queues of fleet routers
   */
  GatewayGauges ofRequests(
      Services services, ConnectionLimit connections, Supplier<Number> queuedByRouters) {
    metrics.gauge("kvasir.connections", "Connections of clients.", connections::open);
    metrics.gauge(
        "kvasir.num.requests.running",
        "Requests in service.",
        () -> services.admission().running());
    waiting("admission", () -> services.admission().queued());
    waiting("router", queuedByRouters);
    metrics.gauge(
        "kvasir.body.bytes",
        "Bytes held of request bodies, as far as they have arrived, and of decoded prompts.",
        () -> services.bodies().used());
    metrics.gauge(
        "kvasir.access.log.dropped",
        "Access log lines that were counted instead of written.",
        services.log()::dropped);
    metrics.gauge(
        "kvasir.recording.dropped",
        "Requests and block events that --record counted instead of writing them.",
        services.recording()::dropped);
    return this;
  }

  private void waiting(String queue, Supplier<Number> value) {
    metrics.gauge(
        "kvasir.num.requests.waiting",
        "Requests that wait for their start, by the queue: the gateway's or the fleet router's.",
        "queue",
        queue,
        value);
  }

  /** Adds those of the workers that DNS lists. */
  GatewayGauges ofDiscovery(DnsDiscovery discovery) {
    metrics.gauge("kvasir.dns.workers", "Workers that DNS lists.", discovery::workers);
    metrics.gauge(
        "kvasir.dns.lookup.failures",
        "Lookups of workers in DNS without an answer, since the start.",
        discovery::failures);
    return this;
  }

  /** Adds those of workers that go. */
  void ofChanges(FleetChanges changes) {
    metrics.gauge(
        "kvasir.worker.requests.cut",
        "Requests that did not end in time at a worker that was removed or replaced.",
        changes::cut);
  }

  /** Adds those of settings that are read again. */
  GatewayGauges ofReloads(Reloads reloads) {
    metrics.gauge(
        "kvasir.config.reloads", "Reloads of the settings, since the start.", reloads::all);
    metrics.gauge(
        "kvasir.config.reload.failures",
        "Reloads of the settings that had an error and changed nothing, since the start.",
        reloads::failed);
    metrics.gauge(
        "kvasir.config.last.reload.successful",
        "Whether the last reload of the settings had no error; 1 before there was any.",
        () -> reloads.lastFailed() ? 0 : 1);
    return this;
  }

  /** Adds those of the link to other gateways, if there is one. */
  GatewayGauges ofReplicas(@Nullable ReplicaLink replicas) {
    if (replicas == null) {
      return this;
    }
    metrics.gauge("kvasir.replicas", "Other gateways whose loads are counted.", replicas::replicas);
    metrics.gauge(
        "kvasir.replica.requests",
        "Requests in flight that other gateways have placed.",
        replicas::requests);
    metrics.gauge(
        "kvasir.replica.messages.ignored",
        "Messages of other gateways about fleets that this one does not have, or without sense.",
        replicas::ignored);
    metrics.gauge(
        "kvasir.replica.messages.dropped",
        "Messages to other gateways that were dropped, because too many waited.",
        replicas::dropped);
    for (String peer : replicas.peers()) {
      metrics.peerGauge(
          "kvasir.replica.last.message.age",
          "Seconds since the last message of another gateway.",
          peer,
          () -> replicas.lastMessageAgeSeconds(peer));
    }
    return this;
  }

  /**
   * Adds those of a worker.
   *
   * @param clockNs the time by which workers rest, in nanoseconds
   */
  void ofWorker(FleetWorker worker, ModelFleets fleets, LongSupplier clockNs) {
    metrics.workerGauge(
        "kvasir.worker.healthy",
        "Whether the last health checks were good.",
        worker.name(),
        worker.role().id(),
        () -> worker.healthy() ? 1 : 0);
    metrics.workerGauge(
        "kvasir.worker.takes.requests",
        "Whether requests may be sent to the worker.",
        worker.name(),
        worker.role().id(),
        () -> fleets.takes(worker, clockNs.getAsLong()) ? 1 : 0);
    metrics.workerGauge(
        "kvasir.worker.requests.running",
        "Requests of this gateway in flight at the worker.",
        worker.name(),
        worker.role().id(),
        () -> worker.membership().activeRequests());
  }
}
