package io.kvasir.gateway;

import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a gateway runs. Immutable.
 *
 * @param host the address of the public port
 * @param port the public port; 0 for any free one
 * @param adminHost the address of the admin port
 * @param adminPort the admin port; 0 for any free one
 * @param adminAllowedHosts names under which the admin port answers, besides addresses and the
 *     local host
 * @param eventLoops threads that serve requests, at least 1
 * @param workers the engines behind HTTP; empty for embedded ranks
 * @param router the fleet router's name, or {@link #AUTO}
 * @param routerArgs settings of the fleet router
 * @param replicas other gateways in front of the same workers; null for none
 * @param proxy limits of requests
 * @param pressure limits of all requests together
 * @param health the checks of workers
 * @param disagg how requests are split between workers of role prefill and decode
 */
public record GatewaySettings(
    String host,
    int port,
    String adminHost,
    int adminPort,
    List<String> adminAllowedHosts,
    int eventLoops,
    List<WorkerSpec> workers,
    String router,
    Map<String, Object> routerArgs,
    @Nullable Replicas replicas,
    ProxySettings proxy,
    Pressure pressure,
    Health health,
    DisaggSettings disagg) {

  /** Policy {@code projected} where engines publish block events, else {@code affinity}. */
  public static final String AUTO = RouterChoice.AUTO;

  /** Copies the collections. */
  public GatewaySettings {
    adminAllowedHosts = List.copyOf(adminAllowedHosts);
    workers = List.copyOf(workers);
    routerArgs = Map.copyOf(routerArgs);
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
   * @param breaker when workers that fail get no requests
   */
  public record Health(
      int connectTimeoutMs,
      long intervalMs,
      long timeoutMs,
      int failures,
      BreakerSettings breaker) {}
}
