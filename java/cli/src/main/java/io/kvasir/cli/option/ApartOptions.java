package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Options of a replay in which prompts and answers are computed by different workers. */
@Heading("Prefill and decode apart")
public final class ApartOptions extends DeclaredOptions {

  /** Option of the number of workers that compute prompts. */
  public static final String PREFILL_WORKERS = "--prefill-workers";

  /** Option of the number of workers that generate answers. */
  public static final String DECODE_WORKERS = "--decode-workers";

  private static final String PREFILL_ROUTER = "--prefill-router";
  private static final String PREFILL_ARGS = "--prefill-router-args";
  private static final String DECODE_ROUTER = "--decode-router";
  private static final String DECODE_ARGS = "--decode-router-args";
  static final String MAX_LOCAL = ServeDisagg.MAX_LOCAL;

  static final int MAX_WORKERS = 512;

  /** Options without meaning where each worker serves whole requests. */
  private static final List<String> NEED_ROLES =
      List.of(PREFILL_ROUTER, PREFILL_ARGS, DECODE_ROUTER, DECODE_ARGS, MAX_LOCAL);

  private final Declared<Integer> prefillWorkers =
      integer(PREFILL_WORKERS, null, 1, MAX_WORKERS)
          .help(
              41,
              "Workers that compute prompts for the workers of "
                  + DECODE_WORKERS
                  + ", in place of "
                  + FleetOptions.WORKERS
                  + " (default: none).");

  private final Declared<Integer> decodeWorkers =
      integer(DECODE_WORKERS, null, 1, MAX_WORKERS)
          .help(41, "Workers that generate the answers to these prompts (default: none).");

  private final Declared<FleetRouterProvider> prefillRouter =
      option(PREFILL_ROUTER, "NAME", null, text -> router(PREFILL_ROUTER, text))
          .candidates(Choices.FleetRouters.class)
          .help(
              41,
              "Router among the prefill workers (default: that of --fleet-router, else projected).");

  private final Declared<Map<String, Object>> prefillArgs =
      option(
              PREFILL_ARGS,
              "KEY=VALUE[,KEY=VALUE]",
              null,
              text -> FleetOptions.argsByKey(PREFILL_ARGS, text))
          .help(41, "Args of the router among the prefill workers (default: none).");

  private final Declared<FleetRouterProvider> decodeRouter =
      option(DECODE_ROUTER, "NAME", null, text -> router(DECODE_ROUTER, text))
          .candidates(Choices.FleetRouters.class)
          .help(
              41,
              "Router among the decode workers (default: that of --fleet-router, else projected).");

  private final Declared<Map<String, Object>> decodeArgs =
      option(
              DECODE_ARGS,
              "KEY=VALUE[,KEY=VALUE]",
              null,
              text -> FleetOptions.argsByKey(DECODE_ARGS, text))
          .help(41, "Args of the router among the decode workers (default: none).");

  private final Declared<Integer> maxLocalPrefill =
      integer(MAX_LOCAL, null, 0, ServeDisagg.MAX_LOCAL_TOKENS)
          .help(
              41,
              "Most tokens of a prompt that a decode worker may lack and still serve it whole"
                  + " (default: the routers decide).");

  ApartOptions() {}

  /** {@return whether there are workers with roles} */
  public boolean isGiven() {
    return prefillWorkers.isGiven() || decodeWorkers.isGiven();
  }

  /**
   * {@return the two fleets of each replay; empty if each worker serves whole requests}
   *
   * @param layer options of the routers and their events
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a value is not allowed
   */
  public List<ApartSettings> settings(FleetOptions layer, Predicate<String> isFlag) {
    if (!isGiven()) {
      for (String option : NEED_ROLES) {
        if (isFlag.test(option)) {
          throw new UsageException(option, "needs " + PREFILL_WORKERS + " and " + DECODE_WORKERS);
        }
      }
      return List.of();
    }
    if (!prefillWorkers.isGiven() || !decodeWorkers.isGiven()) {
      String given = prefillWorkers.isGiven() ? PREFILL_WORKERS : DECODE_WORKERS;
      String other = prefillWorkers.isGiven() ? DECODE_WORKERS : PREFILL_WORKERS;
      throw new UsageException(given, "needs " + other);
    }
    for (String option : List.of(FleetOptions.WORKERS, FleetOptions.WHAT_IF, FleetOptions.RETURN)) {
      if (isFlag.test(option)) {
        throw new UsageException(
            option, "and " + PREFILL_WORKERS + ", " + DECODE_WORKERS + " exclude each other");
      }
    }
    checkRouters(isFlag);
    Map<String, ApartSettings> byName = new LinkedHashMap<>();
    for (FleetRouterProvider each : layer.routersOr(FleetRouterKind.PROJECTED)) {
      ApartSettings apart =
          new ApartSettings(
              layer.fleet(
                  prefillWorkers.value(),
                  prefillRouter.orElse(each),
                  args(prefillArgs, prefillRouter, layer)),
              layer.fleet(
                  decodeWorkers.value(),
                  matching(decodeRouter.orElse(each)),
                  args(decodeArgs, decodeRouter, layer)),
              maxLocalPrefill.orElse(WholeOrApart.BY_FORECAST));
      byName.putIfAbsent(apart.routers(), apart);
    }
    return new ArrayList<>(byName.values());
  }

  /** Checks that no option of a router has no effect. */
  private void checkRouters(Predicate<String> isFlag) {
    requireName(prefillRouter, prefillArgs);
    requireName(decodeRouter, decodeArgs);
    if (prefillRouter.isGiven() && decodeRouter.isGiven()) {
      for (String option : List.of(FleetOptions.ROUTER, FleetOptions.ARGS)) {
        if (isFlag.test(option)) {
          throw new UsageException(
              option, "has no effect with both " + PREFILL_ROUTER + " and " + DECODE_ROUTER);
        }
      }
    }
  }

  private static void requireName(
      Declared<FleetRouterProvider> router, Declared<Map<String, Object>> args) {
    if (args.isGiven() && !router.isGiven()) {
      throw args.wrong("needs " + router.name() + " NAME: routers differ in their args");
    }
  }

  /** A router of decode, which must match prompts if there is a limit for what they lack. */
  private FleetRouterProvider matching(FleetRouterProvider decode) {
    if (maxLocalPrefill.isGiven() && ServeDisagg.MATCH_NOTHING.contains(decode.name())) {
      throw maxLocalPrefill.wrong(
          "needs a router of decode that matches prompts, not " + decode.name());
    }
    return decode;
  }

  /** A router's own args, or those of the fleet router if it is that. */
  private static Map<String, Object> args(
      Declared<Map<String, Object>> own, Declared<FleetRouterProvider> router, FleetOptions layer) {
    return own.orElse(router.isGiven() ? Map.of() : layer.args());
  }

  /**
   * {@return a worker of either fleet, with the hash format of the routers}
   *
   * @param each the settings of the worker
   * @param apart the fleets
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a router does not work with these settings
   */
  public ReplaySettings worker(ReplaySettings each, ApartSettings apart, Predicate<String> isFlag) {
    if (!each.executor().enableBlockReuse()) {
      throw new UsageException(
          "--enable-block-reuse", "must be true with " + PREFILL_WORKERS + ": KV comes as blocks");
    }
    ReplaySettings named = role(prefillRouter, prefillArgs, each, apart.prefill(), isFlag);
    named = role(decodeRouter, decodeArgs, named, apart.decode(), isFlag);
    return role(prefillRouter, prefillArgs, named, apart.prefill(), isFlag);
  }

  /** A worker of a role; errors name the options that the role's router comes from. */
  private static ReplaySettings role(
      Declared<FleetRouterProvider> router,
      Declared<Map<String, Object>> args,
      ReplaySettings each,
      FleetSettings fleet,
      Predicate<String> isFlag) {
    return router.isGiven()
        ? FleetOptions.worker(router.name(), args.name(), each, fleet, isFlag)
        : FleetOptions.worker(each, fleet, isFlag);
  }

  private static FleetRouterProvider router(String option, String name) {
    return Values.choice(option, name, FleetRouterKind.all(), FleetRouterProvider::name);
  }
}
