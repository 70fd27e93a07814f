package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Options of the layer above the workers. */
public final class FleetOptions {

  public static final String WORKERS = "--workers";
  public static final String ROUTER = "--fleet-router";

  private static final int MOST_WORKERS = 1024;
  private static final double MOST_DELAY_MS = 3_600_000;
  private static final double LEAST_INTERVAL_MS = 0.001;
  private static final double NS_PER_MS = 1e6;
  private static final String ARGS = "--fleet-router-args";
  private static final String HASH_FORMAT = "--hash-format";

  /** Args under which a router may let requests wait, or refuse them. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "router_queue_threshold",
          "active_decode_blocks_threshold",
          "active_prefill_tokens_threshold",
          "active_prefill_tokens_threshold_frac");

  @Option(
      names = WORKERS,
      paramLabel = "N",
      defaultValue = "1",
      order = 40,
      description = "Workers, each with its own ranks and ADP router (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = ROUTER,
      paramLabel = "NAME",
      order = 40,
      description =
          "Policy that chooses the worker: round_robin, load_balancing, kv_cache_aware,"
              + " conversation, or with --ranks 1 also cost, approximate, polled"
              + " (default: none for one worker, else round_robin).")
  private String router;

  @Option(
      names = ARGS,
      paramLabel = "KEY=VALUE[,KEY=VALUE]",
      defaultValue = "",
      order = 40,
      description =
          "The fleet router's args, by TensorRT-LLM's or Dynamo's names, such as load_weight=1"
              + " (default: none).")
  private String args;

  @Option(
      names = "--event-delay-ms",
      paramLabel = "X",
      defaultValue = "0",
      order = 40,
      description =
          "Modelled time from a change of a worker's blocks to its event at the fleet router"
              + " (default: ${DEFAULT-VALUE}).")
  private String eventDelayMs;

  @Option(
      names = "--metric-delay-ms",
      paramLabel = "X",
      defaultValue = "5",
      order = 40,
      description =
          "polled: modelled time from a poll of the metrics to its answer"
              + " (default: ${DEFAULT-VALUE}).")
  private String metricDelayMs;

  @Option(
      names = "--metric-interval-ms",
      paramLabel = "X",
      defaultValue = "100",
      order = 40,
      description = "polled: modelled time between polls (default: ${DEFAULT-VALUE}).")
  private String metricIntervalMs;

  /** The layer that was asked for; none for one worker without a fleet router. */
  public Optional<FleetSettings> settings() {
    FleetSettings fleet =
        new FleetSettings(
            Values.integer(WORKERS, workers, 1, MOST_WORKERS),
            router == null ? FleetRouterKind.named(null) : named(router),
            argsByKey(),
            ns("--event-delay-ms", eventDelayMs, 0),
            ns("--metric-delay-ms", metricDelayMs, 0),
            ns("--metric-interval-ms", metricIntervalMs, LEAST_INTERVAL_MS));
    if (fleet.workers() == 1 && router == null) {
      return Optional.empty();
    }
    for (String key : UNSUPPORTED) {
      if (fleet.args().containsKey(key)) {
        throw new UsageException(
            ARGS, "must not have " + key + ": a replay routes each request when it arrives");
      }
    }
    return Optional.of(fleet);
  }

  /** A policy by name. */
  public static FleetRouterProvider named(String name) {
    return Values.choice(ROUTER, name, FleetRouterKind.all(), FleetRouterProvider::name);
  }

  /** Milliseconds of an option in nanoseconds. */
  public static long ns(String option, String milliseconds, double least) {
    return Math.round(Values.number(option, milliseconds, least, MOST_DELAY_MS) * NS_PER_MS);
  }

  private Map<String, Object> argsByKey() {
    Map<String, Object> byKey = new HashMap<>();
    for (String arg : args.isBlank() ? new String[0] : args.split(",", -1)) {
      int equals = arg.indexOf('=');
      if (equals < 1 || byKey.put(arg.substring(0, equals).strip(), value(arg, equals)) != null) {
        throw new UsageException(ARGS, "must be KEY=VALUE, each key once, not '" + args + "'");
      }
    }
    return byKey;
  }

  private static Object value(String arg, int equals) {
    String text = arg.substring(equals + 1).strip();
    if (text.equals("true") || text.equals("false")) {
      return Boolean.valueOf(text);
    }
    try {
      return Double.valueOf(text);
    } catch (NumberFormatException e) {
      throw new UsageException(ARGS, "must be numbers, true or false, not '" + text + "'");
    }
  }

  /** A worker whose blocks have a size and a naming that the fleet router can follow. */
  public static ReplaySettings named(
      ReplaySettings each, FleetSettings fleet, Predicate<String> isGiven) {
    String name = fleet.router().name();
    if (fleet.router().choosesRanks() && each.ranks() != 1) {
      throw new UsageException(
          "--ranks", "must be 1 with " + ROUTER + " " + name + ", not " + each.ranks());
    }
    if (fleet.args().get("tokens_per_block") instanceof Double size
        && fleet.router().followsBlocks()
        && size % each.tokensPerBlock() != 0
        && each.tokensPerBlock() % size != 0) {
      throw new UsageException(
          ARGS,
          "is wrong: tokens_per_block must divide, or be divided by, " + each.tokensPerBlock());
    }
    HashFormat naming = fleet.naming(each.hashFormat());
    if (naming != each.hashFormat() && isGiven.test(HASH_FORMAT)) {
      throw new UsageException(
          HASH_FORMAT,
          "must be "
              + naming.id()
              + " with "
              + ROUTER
              + " "
              + name
              + ", which follows TensorRT-LLM's events, not "
              + each.hashFormat().id());
    }
    ReplaySettings worker = each.withHashFormat(naming);
    try {
      fleet
          .router()
          .create(
              fleet.args(),
              new FleetRouterSetup(naming, worker.tokensPerBlock(), System::nanoTime, Map.of()))
          .close();
      return worker;
    } catch (IllegalArgumentException e) {
      throw new UsageException(ARGS, "is wrong: " + e.getMessage());
    }
  }
}
