package io.kvasir.cli.option;

import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.ProxySettings;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a gateway's limits and timeouts. */
@Heading("Limits and timeouts")
final class ServeLimits {

  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_REQUESTS = 1 << 20;
  private static final int MAX_MB = 1 << 20;
  private static final int MAX_BODY_MB = 1_024;

  @Option(
      names = "--max-running-requests",
      paramLabel = "N",
      defaultValue = "4096",
      order = 20,
      description = "Most requests served at a time (default: ${DEFAULT-VALUE}).")
  private String maxRunning;

  @Option(
      names = "--max-queued-requests",
      paramLabel = "N",
      defaultValue = "1024",
      order = 21,
      description =
          "Most requests that wait for their start; more get 429 (default: ${DEFAULT-VALUE}).")
  private String maxQueued;

  @Option(
      names = "--queue-timeout-seconds",
      paramLabel = "N",
      defaultValue = "60",
      order = 22,
      description =
          "Longest wait for the start of a request, in the gateway's queue and the fleet router's"
              + " together (default: ${DEFAULT-VALUE}).")
  private String queueTimeout;

  @Option(
      names = "--max-body-mb",
      paramLabel = "N",
      defaultValue = "64",
      order = 23,
      description = "Largest body of a request; larger ones get 413 (default: ${DEFAULT-VALUE}).")
  private String maxBody;

  @Option(
      names = "--body-budget-mb",
      paramLabel = "N",
      defaultValue = "512",
      order = 24,
      description = "Bodies of all requests together; beyond, 503 (default: ${DEFAULT-VALUE}).")
  private String bodyBudget;

  @Option(
      names = "--body-timeout-seconds",
      paramLabel = "N",
      defaultValue = "30",
      order = 25,
      description = "Longest time for a body to arrive (default: ${DEFAULT-VALUE}).")
  private String bodyTimeout;

  @Option(
      names = "--connect-timeout-seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 26,
      description = "Limit for a connection to a worker (default: ${DEFAULT-VALUE}).")
  private String connectTimeout;

  @Option(
      names = "--first-byte-timeout-seconds",
      paramLabel = "N",
      defaultValue = "600",
      order = 27,
      description = "Limit for the first data of a reply (default: ${DEFAULT-VALUE}).")
  private String firstByteTimeout;

  @Option(
      names = "--idle-timeout-seconds",
      paramLabel = "N",
      defaultValue = "120",
      order = 28,
      description = "Limit between two parts of a reply (default: ${DEFAULT-VALUE}).")
  private String idleTimeout;

  @Option(
      names = "--client-timeout-seconds",
      paramLabel = "N",
      defaultValue = "60",
      order = 29,
      description = "Limit for a client that does not read (default: ${DEFAULT-VALUE}).")
  private String clientTimeout;

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      defaultValue = "3",
      order = 30,
      description = "Most workers that a request is sent to (default: ${DEFAULT-VALUE}).")
  private String maxAttempts;

  @Option(
      names = "--retry-reserve",
      paramLabel = "N",
      defaultValue = "100",
      order = 31,
      description =
          "Retries that can be saved up; each request adds a tenth (default: ${DEFAULT-VALUE}).")
  private String retryReserve;

  @Option(
      names = "--health-interval-seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 32,
      description = "Time between two checks of a worker (default: ${DEFAULT-VALUE}).")
  private String healthInterval;

  @Mixin private BreakerLimits breaker;

  @Option(
      names = "--drain-grace-seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 35,
      description =
          "How long new requests are served after SIGTERM while /ready is 503, so that balancers"
              + " notice (default: ${DEFAULT-VALUE}).")
  private String drainGrace;

  @Option(
      names = "--drain-seconds",
      paramLabel = "N",
      defaultValue = "30",
      order = 35,
      description =
          "How long requests may go on after SIGTERM and the grace (default: ${DEFAULT-VALUE}).")
  private String drain;

  /**
   * How requests are passed on.
   *
   * @param explain whether every reply explains its placement
   * @param clients what one client may take
   */
  ProxySettings proxy(boolean explain, ClientLimits clients) {
    return new ProxySettings(
        (long) Values.integer("--max-body-mb", maxBody, 1, MAX_BODY_MB) << 20,
        milliseconds("--body-timeout-seconds", bodyTimeout),
        milliseconds("--queue-timeout-seconds", queueTimeout),
        milliseconds("--first-byte-timeout-seconds", firstByteTimeout),
        milliseconds("--idle-timeout-seconds", idleTimeout),
        milliseconds("--client-timeout-seconds", clientTimeout),
        Values.integer("--max-attempts", maxAttempts, 1, 100),
        explain,
        clients);
  }

  /** How many requests run and wait. */
  GatewaySettings.Pressure pressure() {
    return new GatewaySettings.Pressure(
        Values.integer("--max-running-requests", maxRunning, 1, MAX_REQUESTS),
        Values.integer("--max-queued-requests", maxQueued, 0, MAX_REQUESTS),
        (long) Values.integer("--body-budget-mb", bodyBudget, 1, MAX_MB) << 20,
        Values.integer("--retry-reserve", retryReserve, 0, MAX_REQUESTS),
        TimeUnit.SECONDS.toMillis(Values.integer("--drain-seconds", drain, 0, MAX_SECONDS)),
        Math.round(1e3 * Values.number("--drain-grace-seconds", drainGrace, 0, MAX_SECONDS)));
  }

  /** How workers are checked. */
  GatewaySettings.Health health() {
    return new GatewaySettings.Health(
        (int) milliseconds("--connect-timeout-seconds", connectTimeout),
        milliseconds("--health-interval-seconds", healthInterval),
        TimeUnit.SECONDS.toMillis(2),
        breaker.settings());
  }

  static long milliseconds(String option, String text) {
    return Math.round(1e3 * Values.number(option, text, 0.001, MAX_SECONDS));
  }
}
