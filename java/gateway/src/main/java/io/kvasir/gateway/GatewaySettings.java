package io.kvasir.gateway;

import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.WorkerSpec;
import java.util.List;
import java.util.Map;

/**
 * How a gateway runs. Immutable.
 *
 * @param host the address of the public port
 * @param port the public port; 0 for any free one
 * @param adminHost the address of the admin port
 * @param adminPort the admin port; 0 for any free one
 * @param eventLoops threads that serve requests, at least 1
 * @param workers the engines behind HTTP; empty for embedded ranks
 * @param router the fleet router's name
 * @param routerArgs settings of the fleet router
 * @param proxy limits of requests
 * @param pressure limits of all requests together
 * @param health the checks of workers
 */
public record GatewaySettings(
    String host,
    int port,
    String adminHost,
    int adminPort,
    int eventLoops,
    List<WorkerSpec> workers,
    String router,
    Map<String, Object> routerArgs,
    ProxySettings proxy,
    Pressure pressure,
    Health health) {

  /** Copies the collections. */
  public GatewaySettings {
    workers = List.copyOf(workers);
    routerArgs = Map.copyOf(routerArgs);
  }

  /**
   * Limits of all requests together. Immutable.
   *
   * @param maxRunningRequests requests served at a time
   * @param maxQueuedRequests requests that may wait for their start
   * @param bodyBudgetBytes bytes of request bodies that the gateway holds
   * @param retryReserve retries that can be saved up, besides a tenth of the requests
   * @param drainMs how long requests may go on after the gateway was asked to stop
   */
  public record Pressure(
      int maxRunningRequests,
      int maxQueuedRequests,
      long bodyBudgetBytes,
      int retryReserve,
      long drainMs) {}

  /**
   * The checks of workers. Immutable.
   *
   * @param connectTimeoutMs limit for making a connection to a worker
   * @param intervalMs time between two checks
   * @param timeoutMs limit for the answer to a check
   * @param breakerFailures failures in a row that open a worker's breaker
   * @param breakerOpenMs how long an open breaker lets nothing through
   */
  public record Health(
      int connectTimeoutMs,
      long intervalMs,
      long timeoutMs,
      int breakerFailures,
      long breakerOpenMs) {}
}
