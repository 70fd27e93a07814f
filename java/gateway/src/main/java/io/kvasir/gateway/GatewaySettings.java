package io.kvasir.gateway;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.http.ConnectionLimit;
import io.kvasir.exchange.http.HttpFront;
import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.whatif.VirtualFleet;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.AdmissionQueue;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a gateway runs. Immutable.
 *
 * @param address the public port
 * @param admin the port of operators
 * @param eventLoops threads that serve requests, at least 1
 * @param workers the engines behind HTTP that have an address
 * @param dnsWorkers those that DNS lists; without both there are embedded ranks
 * @param router the fleet router's name, or {@link #AUTO}
 * @param routerArgs settings of the fleet router
 * @param shadows fleet routers that are asked where they would place the same requests
 * @param shadowFleet the virtual ranks on which they place; null for those of the workers
 * @param replicas other gateways in front of the same workers; null for none
 * @param proxy limits of requests
 * @param pressure limits of all requests together
 * @param health the checks of workers
 * @param disagg how requests are split between workers of role prefill and decode
 * @param keys which clients are served; null for all
 */
public record GatewaySettings(
    HttpFront.Address address,
    Admin admin,
    int eventLoops,
    List<WorkerSpec> workers,
    List<DnsWorkers> dnsWorkers,
    String router,
    Map<String, Object> routerArgs,
    List<FleetRouterProvider> shadows,
    @Nullable VirtualFleet shadowFleet,
    @Nullable Replicas replicas,
    ProxySettings proxy,
    Pressure pressure,
    Health health,
    DisaggSettings disagg,
    @Nullable Keys keys) {

  /** Policy {@code projected} where engines publish block events, else {@code affinity}. */
  public static final String AUTO = RouterChoice.AUTO;

  /** Copies the collections. */
  public GatewaySettings {
    workers = List.copyOf(workers);
    dnsWorkers = List.copyOf(dnsWorkers);
    routerArgs = Map.copyOf(routerArgs);
    shadows = List.copyOf(shadows);
  }

  /**
   * The same limits and routers for one worker of this machine, on free ports of the loopback
   * interface, for every client.
   *
   * @param worker the worker
   * @return the settings
   */
  public GatewaySettings onLoopback(WorkerSpec worker) {
    return new GatewaySettings(
        new HttpFront.Address("127.0.0.1", 0, null),
        new Admin("127.0.0.1", 0, List.of(), null, null),
        eventLoops,
        List.of(worker),
        List.of(),
        router,
        routerArgs,
        List.of(),
        null,
        null,
        proxy,
        pressure,
        health,
        disagg,
        null);
  }

  /** {@return whether engines behind HTTP answer, rather than embedded ranks} */
  public boolean hasEngines() {
    return !workers.isEmpty() || !dnsWorkers.isEmpty();
  }

  /** Whether some workers answer what others have computed. */
  boolean hasDecodeWorkers() {
    return Stream.concat(workers.stream(), dnsWorkers.stream().map(DnsWorkers::example))
        .anyMatch(spec -> spec.disagg().role() == WorkerRole.DECODE);
  }

  /** The requests that wait for a place, and those that have one; the loop starts some of them. */
  AdmissionQueue admissionQueue(EventLoop loop) {
    return new AdmissionQueue(
        pressure.maxRunningRequests(), pressure.maxQueuedRequests(), System::nanoTime, loop);
  }

  /** The bodies that the gateway holds. A client's share has room for one of the largest size. */
  BodyBudget bodyBudget() {
    double share = proxy.clients().share();
    long clientBytes = Math.max((long) (share * pressure.bodyBudgetBytes()), proxy.maxBodyBytes());
    return new BodyBudget(
        pressure.bodyBudgetBytes(), clientBytes, shareOf(pressure.maxRunningRequests(), share));
  }

  /** The connections of clients that the gateway holds. */
  ConnectionLimit connectionLimit() {
    ClientLimits clients = proxy.clients();
    return new ConnectionLimit(
        clients.maxConnections(), shareOf(clients.maxConnections(), clients.share()));
  }

  private static int shareOf(int all, double share) {
    return Math.max(1, (int) (share * all));
  }

  /** {@return the routers of workers of all roles} */
  List<RouterChoice> choices() {
    return List.of(choice(), disagg.prefillRouter(), disagg.decodeRouter());
  }

  /** {@return the router of workers of role both, or of embedded ranks} */
  RouterChoice choice() {
    return new RouterChoice(router, routerArgs);
  }

  /**
   * The port of operators. Immutable.
   *
   * @param host its address
   * @param port the port; 0 for any free one
   * @param allowedHosts names under which it answers, besides addresses and the local host
   * @param key what requests that change workers must present; null if none can
   * @param tls its certificate and key; null for HTTP without TLS
   */
  public record Admin(
      String host,
      int port,
      List<String> allowedHosts,
      @Nullable ApiKey key,
      @Nullable TlsFiles tls) {

    /** Copies the list. */
    public Admin {
      allowedHosts = List.copyOf(allowedHosts);
    }

    /** Where it listens. */
    HttpFront.Address address() {
      return new HttpFront.Address(host, port, tls);
    }

    /** All names under which it answers. */
    List<String> names() {
      List<String> names = new ArrayList<>(allowedHosts);
      names.add(host);
      return names;
    }
  }

  /**
   * The API keys of clients. Immutable.
   *
   * @param file has the keys, as {@code kvasir keys} writes them
   * @param forwardsAuthorization whether engines receive the fields in which clients present keys
   */
  public record Keys(Path file, boolean forwardsAuthorization) {}

  /**
   * Other gateways in front of the same workers, with which loads are exchanged. Immutable.
   *
   * @param endpoint where this gateway publishes what it places, {@code tcp://HOST:PORT}
   * @param peers where the others do
   */
  public record Replicas(String endpoint, List<String> peers) {

    /** Copies the list. */
    public Replicas {
      peers = List.copyOf(peers);
    }
  }

  /**
   * Limits of all requests together. Immutable.
   *
   * @param maxRunningRequests requests served at a time
   * @param maxQueuedRequests requests that may wait for their start
   * @param bodyBudgetBytes bytes of request bodies that the gateway holds
   * @param retryReserve retries that can be saved up, besides a tenth of the requests
   * @param drainMs how long requests may go on after the gateway has begun to refuse new ones
   * @param drainGraceMs how long the gateway serves new requests after it was asked to stop, while
   *     it is not ready: the time in which balancers notice
   */
  public record Pressure(
      int maxRunningRequests,
      int maxQueuedRequests,
      long bodyBudgetBytes,
      int retryReserve,
      long drainMs,
      long drainGraceMs) {}

  /**
   * The checks of workers. Immutable.
   *
   * @param connectTimeoutMs limit for making a connection to a worker
   * @param intervalMs time between two checks
   * @param timeoutMs limit for the answer to a check
   * @param failures bad answers in a row that make a worker unhealthy, at least 1
   * @param lookupMs time between two lookups of the workers that DNS lists
   * @param breaker when workers that fail get no requests
   */
  public record Health(
      int connectTimeoutMs,
      long intervalMs,
      long timeoutMs,
      int failures,
      long lookupMs,
      BreakerSettings breaker) {}
}
