package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.ClosedLoad;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Measure;

/**
 * Formats a comparison of fleet routers as a Markdown table with one row for each load and router.
 * The lowest p95 time to first token under a load is bold, for all routers that tie as shown. Times
 * are modelled milliseconds.
 *
 * <p>Stateless.
 */
public final class FleetTable {

  private FleetTable() {}

  /** {@return the table's header: two lines} */
  public static String head() {
    return "| lengths | requests | in flight | router | TTFT p50 ms | TTFT p95 ms | ITL p50 ms | ITL p95 ms"
        + " | behind prompts | hit rate | CV | max/min |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  }

  /**
   * The rows of one load.
   *
   * @param cell the comparison
   * @return a line for each router
   */
  public static String rows(Cell<ClosedLoad> cell) {
    StringBuilder rows = new StringBuilder();
    boolean first = true;
    for (Compared router : cell.policies()) {
      String lengths = first ? cell.load().lengths().id() : "";
      String requests = first ? Numbers.count(cell.load().requests()) : "";
      String concurrency = first ? Numbers.count(cell.load().concurrency()) : "";
      String p95 = estimate(router.of(Measure.TTFT_P95_MS));
      boolean best = isBest(cell, router);
      rows.append("| ").append(lengths).append(" | ").append(requests);
      rows.append(" | ").append(concurrency);
      rows.append(" | ").append(router.policy());
      rows.append(" | ").append(Numbers.decimals(router.of(Measure.TTFT_P50_MS).mean(), 0));
      rows.append(" | ").append(best ? "**" + p95 + "**" : p95);
      rows.append(" | ").append(Numbers.decimals(router.of(Measure.ITL_P50_MS).mean(), 1));
      rows.append(" | ").append(Numbers.decimals(router.of(Measure.ITL_P95_MS).mean(), 1));
      rows.append(" | ").append(Numbers.percent(router.of(Measure.BEHIND_PROMPTS).mean()));
      rows.append(" | ").append(Numbers.rate(router.of(Measure.TOKEN_HIT_RATE).mean()));
      rows.append(" | ").append(Numbers.decimals(router.of(Measure.ROUTED_CV).mean(), 3));
      rows.append(" | ").append(Numbers.decimals(router.of(Measure.ROUTED_MAX_OVER_MIN).mean(), 2));
      rows.append(" |\n");
      first = false;
    }
    return rows.toString();
  }

  /** Whether no router's mean p95 is shown as a lower number of milliseconds. */
  static boolean isBest(Cell<?> cell, Compared router) {
    return wholeP95(router).equals(wholeP95(cell.best()));
  }

  private static String wholeP95(Compared router) {
    return Numbers.decimals(router.of(Measure.TTFT_P95_MS).mean(), 0);
  }

  /** A mean in whole milliseconds, with its interval if there is one. */
  static String estimate(Estimate estimate) {
    String mean = Numbers.decimals(estimate.mean(), 0);
    return Double.isNaN(estimate.halfWidth())
        ? mean
        : mean + " ± " + Numbers.decimals(estimate.halfWidth(), 0);
  }
}
