package io.kvasir.cli.command;

import io.kvasir.cli.option.ApartContest;
import io.kvasir.cli.option.ApartOptions;
import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.WorkerOptions;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.fleet.ApartSettings;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;

/** The policies that are compared: ADP routers, fleet routers, or those of workers with roles. */
final class ComparedPolicies extends DeclaredOptions {

  private final Declared<String> routers =
      text("--router", "NAME[,NAME]", null)
          .candidates(Choices.AdpRouters.class)
          .help(
              4,
              "ADP routers to compare (default:"
                  + " default,kv_cache_aware,conversation,projected).");

  private final Declared<String> fleetRouters =
      text(FleetOptions.ROUTER, "NAME[,NAME]", null)
          .candidates(Choices.FleetRouters.class)
          .help(
              4,
              "Fleet routers to compare instead, over RANKS workers of one rank: any"
                  + " of ${COMPLETION-CANDIDATES}.");

  private final Declared<String> args =
      text(FleetOptions.ARGS, "KEY=VALUE[,KEY=VALUE]", "")
          .help(4, "Args of those fleet routers that have them (default: none).");

  @Mixin private ApartContest roles;

  /**
   * The chosen policies.
   *
   * @param names their names
   * @param contest compares them in a case
   */
  record Chosen(List<String> names, Contest contest) {}

  /** Compares policies in a case. */
  @FunctionalInterface
  interface Contest {
    Cell<PlayedLoad> compare(RouterComparison comparison, Setting setting)
        throws InterruptedException;
  }

  /** The workers' roles. */
  ApartContest roles() {
    return roles;
  }

  /** Whether fleet routers over workers that serve whole requests are compared. */
  boolean fleets() {
    return fleetRouters.isGiven() && !roles.isGiven();
  }

  /**
   * The policies that the options name.
   *
   * @throws UsageException if a value is not allowed
   */
  Chosen chosen() {
    if (routers.isGiven() && fleetRouters.isGiven()) {
      throw new UsageException(FleetOptions.ROUTER, "and --router exclude each other");
    }
    if (roles.isGiven()) {
      if (routers.isGiven()) {
        throw routers.wrong("and " + ApartOptions.PREFILL_WORKERS + " exclude each other");
      }
      Map<String, ApartSettings> policies = roles.policies(fleetRouters.text(), args.value());
      return new Chosen(
          List.copyOf(policies.keySet()),
          (comparison, setting) -> comparison.compareApart(setting, policies));
    }
    Map<String, Map<String, Object>> fleets =
        FleetOptions.argsByRouter(fleetRouters.text(), args.value());
    if (!fleets.isEmpty()) {
      return new Chosen(
          List.copyOf(fleets.keySet()),
          (comparison, setting) -> comparison.compareFleets(setting, fleets));
    }
    List<AdpRouterKind> kinds =
        routers.isGiven()
            ? WorkerOptions.routers(routers.value())
            : List.of(AdpRouterKind.values());
    return new Chosen(
        kinds.stream().map(AdpRouterKind::id).toList(),
        (comparison, setting) -> comparison.compare(setting, kinds));
  }
}
