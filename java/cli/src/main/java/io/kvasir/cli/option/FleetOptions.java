package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the fleet router and its workers. */
@Heading(Heading.FLEET)
public final class FleetOptions {

  /** Option of the number of workers. */
  public static final String WORKERS = "--workers";

  /** Option of the fleet router. */
  public static final String ROUTER = "--fleet-router";

  /** Option of the fleet router's args. */
  public static final String ARGS = "--fleet-router-args";

  private static final String WHAT_IF = "--what-if";
  private static final String EVENT_DELAY_MS = "--event-delay-ms";
  private static final String HASH_FORMAT = "--hash-format";

  /** Options without meaning for one worker without a fleet router. */
  private static final List<String> NEED_FLEET =
      List.of(
          ARGS,
          WHAT_IF,
          EVENT_DELAY_MS,
          FleetDelays.METRIC_DELAY_MS,
          FleetDelays.METRIC_INTERVAL_MS);

  @Option(
      names = WORKERS,
      paramLabel = "N",
      defaultValue = "1",
      order = 40,
      description = "Workers, each with its own ranks and ADP router (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = ROUTER,
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.FleetRouters.class,
      order = 40,
      description =
          "Fleet routers to run: round_robin, load_balancing, kv_cache_aware, conversation, cost,"
              + " approximate, projected, or with --ranks 1 also polled. Several are compared"
              + " (default: none for one worker, else round_robin).")
  private @Nullable String router;

  @Option(
      names = ARGS,
      paramLabel = "KEY=VALUE[,KEY=VALUE]",
      defaultValue = "",
      order = 40,
      description = "Args of the fleet router, for example load_weight=1 (default: none).")
  private String args;

  @Option(
      names = WHAT_IF,
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.FleetRouters.class,
      order = 40,
      description =
          "Fleet routers that are asked where they would place the same requests; reported with"
              + " hits on virtual ranks (default: none).")
  private @Nullable String whatIf;

  @Option(
      names = EVENT_DELAY_MS,
      paramLabel = "X",
      defaultValue = "0",
      order = 40,
      description = "Modelled delay of block events (default: ${DEFAULT-VALUE}).")
  private String eventDelayMs;

  @Mixin private FleetDelays delays;

  FleetOptions() {}

  /**
   * {@return a fleet for each fleet router; empty for one worker without a fleet router}
   *
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a value is not allowed
   */
  public List<FleetSettings> settings(Predicate<String> isFlag) {
    List<FleetRouterProvider> routers =
        router == null
            ? List.of(FleetRouterKind.named(null))
            : Values.list(ROUTER, router, FleetOptions::router);
    List<FleetSettings> fleets =
        routers.stream()
            .map(each -> delays.fleet(workers, each, argsByKey(args), eventDelayMs))
            .map(fleet -> fleet.withWhatIf(others()))
            .toList();
    if (fleets.get(0).workers() == 1 && router == null) {
      for (String option : NEED_FLEET) {
        if (isFlag.test(option)) {
          throw new UsageException(
              option, "needs a fleet: " + WORKERS + " above 1 or " + ROUTER + " NAME");
        }
      }
      return List.of();
    }
    return fleets;
  }

  private List<FleetRouterProvider> others() {
    if (whatIf == null) {
      return List.of();
    }
    List<FleetRouterProvider> others =
        Values.list(
            WHAT_IF,
            whatIf,
            name -> Values.choice(WHAT_IF, name, FleetRouterKind.all(), FleetRouterProvider::name));
    for (FleetRouterProvider other : others) {
      String missing = WhatIfRouter.missing(other);
      if (!missing.isEmpty()) {
        throw new UsageException(
            WHAT_IF, "must not name " + other.name() + ", which needs " + missing);
      }
    }
    return others;
  }

  /**
   * {@return a fleet router}
   *
   * @param name its name
   * @throws UsageException if there is no such router
   */
  public static FleetRouterProvider router(String name) {
    return Values.choice(ROUTER, name, FleetRouterKind.all(), FleetRouterProvider::name);
  }

  /**
   * {@return the args of a fleet router by key}
   *
   * @param args the option's value
   * @throws UsageException if it is not a list of keys and values
   */
  static Map<String, Object> argsByKey(String args) {
    Map<String, Object> byKey = new HashMap<>();
    for (String arg : args.isBlank() ? new String[0] : args.split(",", -1)) {
      int equals = arg.indexOf('=');
      if (equals < 1 || byKey.put(arg.substring(0, equals).strip(), value(arg, equals)) != null) {
        throw new UsageException(
            ARGS, "must be KEY=VALUE, each key once, not '" + Errors.shown(args) + "'");
      }
    }
    return byKey;
  }

  private static Object value(String arg, int equals) {
    String text = arg.substring(equals + 1).strip();
    if (text.equals("true") || text.equals("false")) {
      return Boolean.valueOf(text);
    }
    Double number = Decimals.number(text);
    return number == null ? text : number;
  }

  /**
   * {@return a worker of a fleet, with the hash format of the fleet router}
   *
   * @param each the settings of the worker
   * @param fleet the fleet
   * @param isFlag whether an option is on the command line
   * @throws UsageException if the fleet router does not work with these settings
   */
  public static ReplaySettings worker(
      ReplaySettings each, FleetSettings fleet, Predicate<String> isFlag) {
    String name = fleet.router().name();
    if (fleet.router().choosesRanks() && fleet.router().readsMetrics() && each.ranks() != 1) {
      throw new UsageException(
          "--ranks", "must be 1 with " + ROUTER + " " + name + ", not " + each.ranks());
    }
    int blockTokens = each.pool().tokensPerBlock();
    if (fleet.args().get("tokens_per_block") instanceof Double size
        && fleet.router().followsBlocks()
        && size % blockTokens != 0
        && blockTokens % size != 0) {
      throw new UsageException(
          ARGS, "is wrong: tokens_per_block must divide, or be divided by, " + blockTokens);
    }
    HashFormat own = each.pool().hashFormat();
    HashFormat format = fleet.naming(own);
    if (format != own && isFlag.test(HASH_FORMAT)) {
      throw new UsageException(
          HASH_FORMAT,
          "must be %s with %s %s, which follows TensorRT-LLM's events, not %s"
              .formatted(format.id(), ROUTER, name, own.id()));
    }
    try {
      fleet
          .router()
          .create(
              fleet.args(), new FleetRouterSetup(format, blockTokens, System::nanoTime, Map.of()))
          .close();
      return each.withHashFormat(format);
    } catch (IllegalArgumentException e) {
      throw new UsageException(ARGS, "is wrong: " + e.getMessage());
    }
  }
}
