package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of a gateway. */
public final class ServeOptions {

  private static final String WORKER = "--worker";
  private static final int MAX_PORT = 65_535;
  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_REQUESTS = 1 << 20;
  private static final int MAX_MB = 1 << 20;
  private static final int MAX_BODY_MB = 1_024;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "0.0.0.0",
      order = 10,
      description = "Address of the public port (default: ${DEFAULT-VALUE}).")
  private String host;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8080",
      order = 11,
      description = "The public port; 0 takes a free one (default: ${DEFAULT-VALUE}).")
  private String port;

  @Option(
      names = "--admin-host",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      order = 12,
      description = "Address of the admin port (default: ${DEFAULT-VALUE}).")
  private String adminHost;

  @Option(
      names = "--admin-port",
      paramLabel = "N",
      defaultValue = "8081",
      order = 13,
      description = "Port of metrics and health; 0 takes a free one (default: ${DEFAULT-VALUE}).")
  private String adminPort;

  @Option(
      names = WORKER,
      paramLabel = "URL[,KEY=VALUE]...",
      split = "\\s+",
      order = 14,
      description =
          "An engine behind HTTP; may be repeated. Keys: flavor (vllm, sglang or trtllm; default"
              + " vllm), ranks, events, replay, topic, bind, block_size, lb, rank_offset,"
              + " ranks_per_node. Without a worker, embedded ranks answer.")
  private List<String> workers = new ArrayList<>();

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME",
      defaultValue = GatewaySettings.AUTO,
      order = 15,
      description =
          "Router among the workers: cost, conversation, load_balancing, round_robin, ...; auto is"
              + " cost for engines that publish block events, else conversation"
              + " (default: ${DEFAULT-VALUE}).")
  private String router;

  @Option(
      names = FleetOptions.ARGS,
      paramLabel = "KEY=VALUE[,KEY=VALUE]",
      defaultValue = "",
      order = 16,
      description = "Args of the fleet router, for example max_sessions=1000 (default: none).")
  private String routerArgs;

  @Option(
      names = "--event-loops",
      paramLabel = "N",
      order = 17,
      description = "Threads that serve requests (default: one per core, at most 8).")
  private @Nullable String eventLoops;

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
      description = "Longest wait for the start of a request (default: ${DEFAULT-VALUE}).")
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

  @Option(
      names = "--breaker-failures",
      paramLabel = "N",
      defaultValue = "5",
      order = 33,
      description = "Failures in a row after which a worker rests (default: ${DEFAULT-VALUE}).")
  private String breakerFailures;

  @Option(
      names = "--breaker-seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 34,
      description = "How long it rests (default: ${DEFAULT-VALUE}).")
  private String breakerSeconds;

  @Option(
      names = "--drain-seconds",
      paramLabel = "N",
      defaultValue = "30",
      order = 35,
      description = "How long requests may go on after SIGTERM (default: ${DEFAULT-VALUE}).")
  private String drain;

  @Option(
      names = "--explain-headers",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 36,
      description =
          "Name worker, rank, match and reason in every reply's headers (default:"
              + " ${DEFAULT-VALUE}); a request can ask with x-kvasir-explain: true.")
  private String explain;

  ServeOptions() {}

  /**
   * {@return how the gateway runs}
   *
   * @throws UsageException if a value is not allowed
   */
  public GatewaySettings settings() {
    int loops = Math.min(Runtime.getRuntime().availableProcessors(), 8);
    return new GatewaySettings(
        host,
        Values.integer("--port", port, 0, MAX_PORT),
        adminHost,
        Values.integer("--admin-port", adminPort, 0, MAX_PORT),
        eventLoops == null ? loops : Values.integer("--event-loops", eventLoops, 1, 256),
        workers(),
        named().map(FleetRouterProvider::name).orElse(GatewaySettings.AUTO),
        args(),
        proxy(),
        pressure(),
        health());
  }

  /** The router, which must not need metrics: the gateway polls none. Empty for auto. */
  private Optional<FleetRouterProvider> named() {
    List<String> names = new ArrayList<>(List.of(GatewaySettings.AUTO));
    FleetRouterKind.all().forEach(each -> names.add(each.name()));
    String name = Values.choice(FleetOptions.ROUTER, router, names, Function.identity());
    if (name.equals(GatewaySettings.AUTO)) {
      return Optional.empty();
    }
    FleetRouterProvider named = FleetRouterKind.named(name);
    if (named.readsMetrics()) {
      throw new UsageException(
          FleetOptions.ROUTER,
          "must not be "
              + router
              + ", which needs metrics that serve does not poll; cost knows the"
              + " load from the requests");
    }
    return Optional.of(named);
  }

  private Map<String, Object> args() {
    Map<String, Object> args = FleetOptions.argsByKey(routerArgs);
    List<String> known = named().map(FleetRouterProvider::keys).orElse(List.of());
    for (String key : args.keySet()) {
      if (!known.contains(key)) {
        throw new UsageException(
            FleetOptions.ARGS, "has an unknown key for " + router + "; known: " + known);
      }
    }
    return args;
  }

  private List<WorkerSpec> workers() {
    List<WorkerSpec> specs = new ArrayList<>();
    for (String worker : workers) {
      try {
        specs.add(WorkerSpec.parse(worker));
      } catch (IllegalArgumentException e) {
        throw new UsageException(WORKER, "is wrong: " + e.getMessage());
      }
    }
    if (specs.stream().map(WorkerSpec::name).distinct().count() < specs.size()) {
      throw new UsageException(WORKER, "must name each engine once");
    }
    return specs;
  }

  private ProxySettings proxy() {
    return new ProxySettings(
        (long) Values.integer("--max-body-mb", maxBody, 1, MAX_BODY_MB) << 20,
        milliseconds("--body-timeout-seconds", bodyTimeout),
        milliseconds("--queue-timeout-seconds", queueTimeout),
        milliseconds("--first-byte-timeout-seconds", firstByteTimeout),
        milliseconds("--idle-timeout-seconds", idleTimeout),
        milliseconds("--client-timeout-seconds", clientTimeout),
        Values.integer("--max-attempts", maxAttempts, 1, 100),
        Values.flag("--explain-headers", explain));
  }

  private GatewaySettings.Pressure pressure() {
    return new GatewaySettings.Pressure(
        Values.integer("--max-running-requests", maxRunning, 1, MAX_REQUESTS),
        Values.integer("--max-queued-requests", maxQueued, 0, MAX_REQUESTS),
        (long) Values.integer("--body-budget-mb", bodyBudget, 1, MAX_MB) << 20,
        Values.integer("--retry-reserve", retryReserve, 0, MAX_REQUESTS),
        TimeUnit.SECONDS.toMillis(Values.integer("--drain-seconds", drain, 0, MAX_SECONDS)));
  }

  private GatewaySettings.Health health() {
    return new GatewaySettings.Health(
        (int) milliseconds("--connect-timeout-seconds", connectTimeout),
        milliseconds("--health-interval-seconds", healthInterval),
        TimeUnit.SECONDS.toMillis(2),
        Values.integer("--breaker-failures", breakerFailures, 1, MAX_REQUESTS),
        milliseconds("--breaker-seconds", breakerSeconds));
  }

  private static long milliseconds(String option, String text) {
    return Math.round(1e3 * Values.number(option, text, 0.001, MAX_SECONDS));
  }
}
