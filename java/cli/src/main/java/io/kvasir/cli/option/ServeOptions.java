package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a gateway. */
@Heading(Heading.GATEWAY)
public final class ServeOptions {

  private static final String WORKER = "--worker";
  private static final String REPLICA_SYNC = "--router-replica-sync";
  private static final String REPLICA_PEERS = "--router-replica-peers";
  private static final int MAX_PORT = 65_535;
  private static final Pattern ENDPOINT =
      Pattern.compile("tcp://(\\*|\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):(\\d{1,5})");

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
      hideParamSyntax = true,
      split = "\\s+",
      order = 14,
      description =
          "An engine behind HTTP; may be repeated. Keys: flavor (vllm, sglang or trtllm; default"
              + " vllm), ranks, events, replay, topic, bind, block_size, lb, rank_offset,"
              + " ranks_per_node, poll, forward_pass_metrics. Without a worker, embedded ranks answer.")
  private List<String> workers = new ArrayList<>();

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME",
      completionCandidates = Choices.GatewayRouters.class,
      defaultValue = GatewaySettings.AUTO,
      order = 15,
      description =
          "Router among the workers: ${COMPLETION-CANDIDATES}; auto is"
              + " projected where block events are followed, else affinity"
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
      names = REPLICA_SYNC,
      paramLabel = "tcp://HOST:PORT",
      order = 16,
      description =
          "Publish here what this gateway places, for other gateways in front of the same workers"
              + " (default: nothing).")
  private @Nullable String replicaSync;

  @Option(
      names = REPLICA_PEERS,
      paramLabel = "ENDPOINT[,ENDPOINT]",
      order = 16,
      description = "Where the other gateways publish; its own endpoint does no harm.")
  private @Nullable String replicaPeers;

  @Option(
      names = "--event-loops",
      paramLabel = "N",
      order = 17,
      description = "Threads that serve requests (default: one per core, at most 8).")
  private @Nullable String eventLoops;

  @Option(
      names = "--explain-headers",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 36,
      description =
          "Name worker, rank, match and reason in every reply's headers (default:"
              + " ${DEFAULT-VALUE}); a request can ask with x-kvasir-explain: true.")
  private String explain;

  @Mixin private ServeLimits limits;
  @Mixin private ServeClients clients;

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
        clients.adminNames(),
        eventLoops == null ? loops : Values.integer("--event-loops", eventLoops, 1, 256),
        workers(),
        named().map(FleetRouterProvider::name).orElse(GatewaySettings.AUTO),
        args(),
        replicas(),
        limits.proxy(Values.flag("--explain-headers", explain), clients.limits()),
        limits.pressure(),
        limits.health());
  }

  /** The router, which must not need metrics: the gateway polls none. Empty for auto. */
  private Optional<FleetRouterProvider> named() {
    List<String> names = new ArrayList<>(List.of(GatewaySettings.AUTO));
    for (FleetRouterProvider each : FleetRouterKind.all()) {
      if (!each.readsMetrics()) {
        names.add(each.name());
      } else if (each.name().equalsIgnoreCase(router.strip())) {
        throw new UsageException(
            FleetOptions.ROUTER,
            "must not be "
                + each.name()
                + ": it needs the engines' metrics, which the gateway does not poll; projected computes"
                + " the load from the requests");
      }
    }
    String name = Values.choice(FleetOptions.ROUTER, router, names, Function.identity());
    return name.equals(GatewaySettings.AUTO)
        ? Optional.empty()
        : Optional.of(FleetRouterKind.named(name));
  }

  private Map<String, Object> args() {
    Map<String, Object> args = FleetOptions.argsByKey(routerArgs);
    if (named().isEmpty() && !args.isEmpty()) {
      throw new UsageException(
          FleetOptions.ARGS,
          "needs " + FleetOptions.ROUTER + " NAME: routers differ in their args");
    }
    List<String> known = named().map(FleetRouterProvider::keys).orElse(List.of());
    for (String key : args.keySet()) {
      if (!known.contains(key)) {
        throw new UsageException(
            FleetOptions.ARGS, "has an unknown key for " + router + "; known: " + known);
      }
    }
    return args;
  }

  private GatewaySettings.@Nullable Replicas replicas() {
    if (replicaSync == null && replicaPeers == null) {
      return null;
    }
    if (replicaSync == null || replicaPeers == null) {
      String given = replicaSync == null ? REPLICA_PEERS : REPLICA_SYNC;
      throw new UsageException(
          given, "needs " + (replicaSync == null ? REPLICA_SYNC : REPLICA_PEERS));
    }
    if (workers.isEmpty()) {
      throw new UsageException(
          REPLICA_SYNC, "needs " + WORKER + ": no other gateway can be in front of embedded ranks");
    }
    return new GatewaySettings.Replicas(
        endpoint(REPLICA_SYNC, replicaSync),
        Values.list(REPLICA_PEERS, replicaPeers, peer -> endpoint(REPLICA_PEERS, peer)));
  }

  private static String endpoint(String option, String text) {
    Matcher matcher = ENDPOINT.matcher(text.strip());
    if (!matcher.matches()
        || Integer.parseInt(matcher.group(2)) < 1
        || Integer.parseInt(matcher.group(2)) > MAX_PORT) {
      throw new UsageException(
          option,
          "must be tcp://HOST:PORT with a port from 1 to "
              + MAX_PORT
              + ", not '"
              + Errors.shown(text)
              + "'");
    }
    return text.strip();
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
}
