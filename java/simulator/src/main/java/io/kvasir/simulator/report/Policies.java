package io.kvasir.simulator.report;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Names of the policies that results differ in. */
final class Policies {

  private final ReplayResult first;
  private final boolean differentFleets;
  private final boolean differentRouters;

  /**
   * Compares results of one workload.
   *
   * @param results at least one; all of a fleet, or none
   */
  Policies(List<ReplayResult> results) {
    this.first = results.get(0);
    this.differentFleets = differ(results, Policies::fleet);
    this.differentRouters = differ(results, Policies::router);
  }

  private static boolean differ(List<ReplayResult> results, Function<ReplayResult, String> name) {
    return results.stream().map(name).distinct().count() > 1;
  }

  private static String router(ReplayResult result) {
    AttentionDpConfig config = result.settings().routing().config();
    AdpRouterKind router = result.settings().routing().router();
    String without = router == AdpRouterKind.PROJECTED ? config.projectedOmittedTerm() : "";
    return without.isEmpty() ? router.id() : router.id() + " without " + without;
  }

  private static String fleet(ReplayResult result) {
    if (result.apart() != null) {
      return result.apart().settings().routers();
    }
    return result.fleet() == null ? "" : result.fleet().settings().router().name();
  }

  /** The ADP router, the fleet router, or both, as far as others have different ones. */
  String name(ReplayResult result) {
    if (!differentFleets) {
      return router(result);
    }
    return differentRouters ? fleet(result) + "/" + router(result) : fleet(result);
  }

  /** The ranks, what chooses among workers if that is the same in all results, and its args. */
  String ranks() {
    String ranks = counted(first.settings().ranks(), "rank");
    if (first.fleet() == null) {
      return ranks;
    }
    if (first.apart() != null) {
      return Legs.workers(first.apart())
          + " of "
          + ranks
          + (differentFleets ? "" : ", fleet router " + fleet(first));
    }
    return counted(first.fleet().settings().workers(), "worker")
        + " of "
        + ranks
        + (differentFleets ? "" : ", fleet router " + fleet(first))
        + args(first.fleet().settings().args());
  }

  private static String args(Map<String, Object> args) {
    return args.isEmpty()
        ? ""
        : new TreeMap<>(args)
            .entrySet().stream()
                .map(arg -> arg.getKey() + "=" + arg.getValue())
                .collect(Collectors.joining(",", ", args ", ""));
  }

  private static String counted(int count, String thing) {
    return Numbers.count(count) + " " + thing + (count == 1 ? "" : "s");
  }
}
