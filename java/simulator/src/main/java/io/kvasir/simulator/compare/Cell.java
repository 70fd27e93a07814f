package io.kvasir.simulator.compare;

import io.kvasir.engine.adp.AdpRouterKind;
import java.util.Comparator;
import java.util.List;

/**
 * Several routers under one load.
 *
 * <p>Immutable.
 *
 * @param workload what was asked
 * @param load how busy the instance was kept
 * @param poolTokens tokens of each rank's pool
 * @param speed how many times faster than recorded the requests came
 * @param roundRobinShare the utilisation that this speed gives round-robin
 * @param routers what each router made of it, in the order asked for
 */
public record Cell(
    String workload,
    Load load,
    int poolTokens,
    double speed,
    double roundRobinShare,
    List<Compared> routers) {

  /**
   * The router with the earliest first tokens (p95).
   *
   * @return the first of them, if several are equal
   */
  public Compared best() {
    return routers.stream()
        .min(Comparator.comparingDouble(r -> r.ttftP95Ms().mean()))
        .orElseThrow();
  }

  /**
   * What one router made of it.
   *
   * @param router one of those compared
   * @return its results
   */
  public Compared of(AdpRouterKind router) {
    return routers.stream().filter(each -> each.router() == router).findFirst().orElseThrow();
  }

  /**
   * Whether a router is the best, or its mean lies within the best one's interval.
   *
   * @param router one of those compared
   * @return true if chance may explain that it is not the best
   */
  public boolean withinBest(AdpRouterKind router) {
    return best().ttftP95Ms().covers(of(router).ttftP95Ms().mean());
  }

  /**
   * A router's token hit rate over the best one's.
   *
   * @param router one of those compared
   * @return at most 1; 1 if nobody hits anything
   */
  public double shareOfBestHitRate(AdpRouterKind router) {
    double most = routers.stream().mapToDouble(r -> r.tokenHitRate().mean()).max().orElse(0);
    return most == 0 ? 1 : of(router).tokenHitRate().mean() / most;
  }
}
