package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Options of a comparison of policies whose prompts and answers are computed by different workers.
 */
public final class ApartContest extends DeclaredOptions {

  private static final String LIMITS = "0,1024,16384";

  private final Declared<Integer> prefillWorkers =
      integer(ApartOptions.PREFILL_WORKERS, null, 1, ApartOptions.MAX_WORKERS)
          .help(
              4,
              "Workers of one rank that compute prompts for the workers of "
                  + ApartOptions.DECODE_WORKERS
                  + ": compares limits of local prefill and the routers' forecasts (default: none).");

  private final Declared<Integer> decodeWorkers =
      integer(ApartOptions.DECODE_WORKERS, null, 1, ApartOptions.MAX_WORKERS)
          .help(
              4, "Workers of one rank that generate the answers to these prompts (default: none).");

  private final Declared<List<Integer>> limits =
      list(ApartOptions.MAX_LOCAL, "N[,N]", null, ApartContest::limit)
          .help(
              4,
              "Limits to compare: most tokens of a prompt that a decode worker may lack and still"
                  + " serve it whole (default: "
                  + LIMITS
                  + ").");

  ApartContest() {}

  /**
   * {@return whether there are workers with roles}
   *
   * @throws UsageException if there are workers of one role only, or limits without workers
   */
  public boolean isGiven() {
    if (prefillWorkers.isGiven() != decodeWorkers.isGiven()) {
      throw prefillWorkers.isGiven()
          ? prefillWorkers.wrong("needs " + ApartOptions.DECODE_WORKERS)
          : decodeWorkers.wrong("needs " + ApartOptions.PREFILL_WORKERS);
    }
    if (limits.isGiven() && !prefillWorkers.isGiven()) {
      throw limits.wrong(
          "needs " + ApartOptions.PREFILL_WORKERS + " and " + ApartOptions.DECODE_WORKERS);
    }
    return prefillWorkers.isGiven();
  }

  /** {@return the workers that compute prompts; 0 if each worker serves whole requests} */
  public int prefillWorkers() {
    return isGiven() ? prefillWorkers.value() : 0;
  }

  /** {@return the workers of both roles; 0 if each worker serves whole requests} */
  public int workers() {
    return isGiven() ? prefillWorkers.value() + decodeWorkers.value() : 0;
  }

  /**
   * {@return the workers of each policy by its name: each router without a limit and, if it matches
   * prompts, with each of the limits}
   *
   * @param routers names of the routers of both roles, or null for {@code projected}
   * @param args args of these routers
   * @throws UsageException if a value is not allowed
   */
  public Map<String, ApartSettings> policies(@Nullable String routers, String args) {
    Map<String, ApartSettings> policies = new LinkedHashMap<>();
    FleetOptions.argsByRouter(routers == null ? FleetRouterKind.PROJECTED : routers, args)
        .forEach(
            (router, own) -> {
              policies.put(router, settings(router, own, WholeOrApart.BY_FORECAST));
              for (int limit : limits(FleetOptions.router(router))) {
                policies.put(router + " limit " + limit, settings(router, own, limit));
              }
            });
    return policies;
  }

  private List<Integer> limits(FleetRouterProvider router) {
    if (!ServeDisagg.MATCH_NOTHING.contains(router.name())) {
      return limits.orElse(Values.list(ApartOptions.MAX_LOCAL, LIMITS, ApartContest::limit));
    }
    if (limits.isGiven()) {
      throw limits.wrong("needs routers that match prompts, not " + router.name());
    }
    return List.of();
  }

  private ApartSettings settings(String router, Map<String, Object> args, int limit) {
    return new ApartSettings(
        FleetSettings.of(prefillWorkers.value(), router).withArgs(args),
        FleetSettings.of(decodeWorkers.value(), router).withArgs(args),
        limit);
  }

  private static int limit(String text) {
    return Values.integer(ApartOptions.MAX_LOCAL, text, 0, ServeDisagg.MAX_LOCAL_TOKENS);
  }
}
