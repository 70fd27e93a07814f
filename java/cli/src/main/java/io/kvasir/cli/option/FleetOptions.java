package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import io.kvasir.simulator.fleet.FleetRouterFailure;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Options of the fleet router and its workers. */
@Heading(Heading.FLEET)
public final class FleetOptions extends DeclaredOptions {

  /** Option of the number of workers. */
  public static final String WORKERS = "--workers";

  /** Option of the fleet router. */
  public static final String ROUTER = "--fleet-router";

  /** Option of the fleet router's args. */
  public static final String ARGS = "--fleet-router-args";

  /** Option of further fleet routers. */
  static final String WHAT_IF = "--what-if";

  private static final String EVENT_DELAY_MS = "--event-delay-ms";
  private static final String METRIC_DELAY_MS = "--metric-delay-ms";
  private static final String METRIC_INTERVAL_MS = "--metric-interval-ms";

  /** Option of the workers that join later. */
  static final String RETURN = "--return";

  private static final String HASH_FORMAT = "--hash-format";

  private static final int MAX_WORKERS = 1024;
  private static final double MAX_DELAY_MS = 3_600_000;
  private static final double MIN_INTERVAL_MS = 0.001;
  private static final double MAX_RETURN_SECONDS = 1e6;
  private static final double NS_PER_MS = 1e6;
  private static final double NS_PER_S = 1e9;

  /** Options without meaning for one worker without a fleet router. */
  private static final List<String> NEED_FLEET =
      List.of(ARGS, WHAT_IF, EVENT_DELAY_MS, METRIC_DELAY_MS, METRIC_INTERVAL_MS, RETURN);

  private final Declared<Integer> workers =
      integer(WORKERS, "1", 1, MAX_WORKERS)
          .help(40, "Workers, each with its own ranks and ADP router");

  private final Declared<List<FleetRouterProvider>> routers =
      option(ROUTER, "NAME[,NAME]", null, text -> Values.list(ROUTER, text, FleetOptions::router))
          .candidates(Choices.FleetRouters.class)
          .help(
              40,
              "Fleet routers to run: round_robin, load_balancing, kv_cache_aware, conversation, cost,"
                  + " approximate, projected, or with --ranks 1 also polled. Several are compared"
                  + " (default: none for one worker, else round_robin).");

  private final Declared<Map<String, Object>> args =
      option(ARGS, "KEY=VALUE[,KEY=VALUE]", "", text -> argsByKey(ARGS, text))
          .help(40, "Args of the fleet router, for example load_weight=1 (default: none).");

  private final Declared<List<FleetRouterProvider>> whatIf =
      option(WHAT_IF, "NAME[,NAME]", null, text -> others(WHAT_IF, text))
          .candidates(Choices.FleetRouters.class)
          .help(
              40,
              "Fleet routers that are asked where they would place the same requests;"
                  + " reported with hits on virtual ranks (default: none).");

  private final Declared<Long> eventDelayNs =
      milliseconds(EVENT_DELAY_MS, "0", 0).help(40, "Modelled delay of block events");

  private final Declared<Long> metricDelayNs =
      milliseconds(METRIC_DELAY_MS, "5", 0).help(40, "polled: modelled delay of metrics");

  private final Declared<Long> metricIntervalNs =
      milliseconds(METRIC_INTERVAL_MS, "100", MIN_INTERVAL_MS)
          .help(40, "polled: modelled time between polls");

  private final Declared<List<Map.Entry<Integer, Long>>> returns =
      list(RETURN, "WORKER@SECONDS,...", null, FleetOptions::joins)
          .help(
              40,
              "Workers that join the fleet at a time, with empty pools, as after a restart; counted"
                  + " from 0 (default: none).");

  FleetOptions() {}

  /**
   * {@return a fleet for each fleet router; empty for one worker without a fleet router}
   *
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a value is not allowed
   */
  public List<FleetSettings> settings(Predicate<String> isFlag) {
    List<FleetSettings> fleets =
        routers.orElse(List.of(FleetRouterKind.named(null))).stream().map(this::fleet).toList();
    if (fleets.get(0).workers() == 1 && !routers.isGiven()) {
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

  /** The routers that are named; the given one if none is. */
  List<FleetRouterProvider> routersOr(String name) {
    return routers.orElse(List.of(FleetRouterKind.named(name)));
  }

  /** The args of the fleet router. */
  Map<String, Object> args() {
    return args.value();
  }

  private FleetSettings fleet(FleetRouterProvider each) {
    return joining(fleet(workers.value(), each, args.value()));
  }

  /** Workers under a router, with the delays of these options. */
  FleetSettings fleet(int count, FleetRouterProvider each, Map<String, Object> its) {
    return new FleetSettings(
        count,
        each,
        its,
        eventDelayNs.value(),
        metricDelayNs.value(),
        metricIntervalNs.value(),
        whatIf.orElse(List.of()),
        Map.of());
  }

  private FleetSettings joining(FleetSettings fleet) {
    Map<Integer, Long> joins = new HashMap<>();
    for (Map.Entry<Integer, Long> each : returns.orElse(List.of())) {
      if (joins.put(each.getKey(), each.getValue()) != null) {
        throw returns.wrong("must name each worker once");
      }
    }
    if (joins.keySet().stream().anyMatch(worker -> worker >= fleet.workers())) {
      throw returns.wrong("must name workers from 0 to " + (fleet.workers() - 1));
    }
    if (joins.size() == fleet.workers()) {
      throw returns.wrong("must leave a worker that is there at first");
    }
    return fleet.withReturnNs(joins);
  }

  private static Map.Entry<Integer, Long> joins(String text) {
    int at = text.indexOf('@');
    if (at < 0) {
      throw new UsageException(RETURN, "must be WORKER@SECONDS, not '" + Errors.shown(text) + "'");
    }
    int worker = Values.integer(RETURN, text.substring(0, at), 0, Integer.MAX_VALUE);
    double seconds = Values.number(RETURN, text.substring(at + 1), 0.001, MAX_RETURN_SECONDS);
    return Map.entry(worker, Math.round(seconds * NS_PER_S));
  }

  /** A time in milliseconds, whose value is in nanoseconds. */
  private Declaration<Long> milliseconds(String name, String byDefault, double minimum) {
    return option(
        name,
        "X",
        byDefault,
        text -> Math.round(Values.number(name, text, minimum, MAX_DELAY_MS) * NS_PER_MS));
  }

  /**
   * Reads fleet routers that are asked where they would place requests.
   *
   * @param option the option's name
   * @param text its value
   */
  static List<FleetRouterProvider> others(String option, String text) {
    List<FleetRouterProvider> others =
        Values.list(
            option,
            text,
            name -> Values.choice(option, name, FleetRouterKind.all(), FleetRouterProvider::name));
    for (FleetRouterProvider other : others) {
      String missing = WhatIfRouter.missing(other);
      if (!missing.isEmpty()) {
        throw new UsageException(
            option, "must not name " + other.name() + ", which needs " + missing);
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
   * {@return the args of each compared fleet router by its name; empty without routers}
   *
   * @param routers value of {@code --fleet-router}, or null
   * @param args value of {@code --fleet-router-args}; each router gets those that it has
   * @throws UsageException if a value is not allowed, or no router has an arg
   */
  public static Map<String, Map<String, Object>> argsByRouter(
      @Nullable String routers, String args) {
    Map<String, Object> all = argsByKey(ARGS, args);
    Map<String, Map<String, Object>> byRouter = new LinkedHashMap<>();
    Set<String> unknown = new TreeSet<>(all.keySet());
    List<FleetRouterProvider> named =
        routers == null ? List.of() : Values.list(ROUTER, routers, FleetOptions::router);
    for (FleetRouterProvider router : named) {
      Map<String, Object> own = new HashMap<>(all);
      own.keySet().retainAll(router.keys());
      unknown.removeAll(own.keySet());
      requireArgs(ARGS, router, own, HashFormat.KVASIR, 1);
      byRouter.put(router.name(), own);
    }
    if (!unknown.isEmpty()) {
      throw new UsageException(
          ARGS,
          "is wrong: no compared fleet router has " + Errors.shown(unknown.iterator().next()));
    }
    return byRouter;
  }

  /**
   * Makes a router and closes it.
   *
   * @param option the option with its args
   * @throws UsageException if the args are wrong
   */
  static void requireArgs(
      String option,
      FleetRouterProvider router,
      Map<String, Object> args,
      HashFormat format,
      int blockTokens) {
    try {
      router
          .create(args, new FleetRouterSetup(format, blockTokens, System::nanoTime, Map.of()))
          .close();
    } catch (IllegalArgumentException e) {
      throw new UsageException(option, "is wrong: " + e.getMessage());
    } catch (RuntimeException | LinkageError e) {
      FleetRouterFailure named = FleetRouterFailure.of(List.of(router), e);
      if (named != null) {
        throw named;
      }
      throw e;
    }
  }

  /**
   * {@return the args of a fleet router by key}
   *
   * @param option the option
   * @param args the option's value
   * @throws UsageException if it is not a list of keys and values
   */
  static Map<String, Object> argsByKey(String option, String args) {
    Map<String, Object> byKey = new HashMap<>();
    for (String arg : args.isBlank() ? new String[0] : args.split(",", -1)) {
      int equals = arg.indexOf('=');
      if (equals < 1 || byKey.put(arg.substring(0, equals).strip(), value(arg, equals)) != null) {
        throw new UsageException(
            option, "must be KEY=VALUE, each key once, not '" + Errors.shown(args) + "'");
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
    return worker(ROUTER, ARGS, each, fleet, isFlag);
  }

  /** As the method above, for a router with options of its own. */
  static ReplaySettings worker(
      String routerOption,
      String argsOption,
      ReplaySettings each,
      FleetSettings fleet,
      Predicate<String> isFlag) {
    String name = fleet.router().name();
    if (fleet.router().choosesRanks() && fleet.router().readsMetrics() && each.ranks() != 1) {
      throw new UsageException(
          "--ranks", "must be 1 with " + routerOption + " " + name + ", not " + each.ranks());
    }
    int blockTokens = each.pool().tokensPerBlock();
    if (fleet.args().get("tokens_per_block") instanceof Double size
        && fleet.router().followsBlocks()
        && size % blockTokens != 0
        && blockTokens % size != 0) {
      throw new UsageException(
          argsOption, "is wrong: tokens_per_block must divide, or be divided by, " + blockTokens);
    }
    HashFormat own = each.pool().hashFormat();
    HashFormat format = fleet.naming(own);
    if (format != own && isFlag.test(HASH_FORMAT)) {
      throw new UsageException(
          HASH_FORMAT,
          "must be %s with %s %s, which follows TensorRT-LLM's events, not %s"
              .formatted(format.id(), routerOption, name, own.id()));
    }
    requireArgs(argsOption, fleet.router(), fleet.args(), format, blockTokens);
    return each.withHashFormat(format);
  }
}
