package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Selected;
import io.kvasir.simulator.compare.SelectorCell;

/**
 * Shows a comparison of selectors as a Markdown table, one row for each load and selector; the best
 * p95 of the time to first token under a load is bold. Times are modelled milliseconds.
 *
 * <p>Stateless.
 */
public final class SelectorTable {

  private SelectorTable() {}

  /**
   * The table's head.
   *
   * @return two lines
   */
  public static String head() {
    return "| lengths | requests | in flight | selector | TTFT p50 ms | TTFT p95 ms | ITL p50 ms | ITL p95 ms"
        + " | behind prompts | hit rate | CV | max/min |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  }

  /**
   * The rows of one load.
   *
   * @param cell what was compared
   * @return a line for each selector
   */
  public static String rows(SelectorCell cell) {
    StringBuilder rows = new StringBuilder();
    boolean first = true;
    for (Selected selected : cell.selectors()) {
      String lengths = first ? cell.lengths().id() : "";
      String requests = first ? Numbers.count(cell.requests()) : "";
      String concurrency = first ? Numbers.count(cell.concurrency()) : "";
      String p95 = estimate(selected.ttftP95Ms());
      boolean best = selected.selector() == cell.best().selector();
      rows.append("| ").append(lengths).append(" | ").append(requests);
      rows.append(" | ").append(concurrency);
      rows.append(" | ").append(selected.selector().id());
      rows.append(" | ").append(Numbers.decimals(selected.ttftP50Ms().mean(), 0));
      rows.append(" | ").append(best ? "**" + p95 + "**" : p95);
      rows.append(" | ").append(Numbers.decimals(selected.itlP50Ms().mean(), 1));
      rows.append(" | ").append(Numbers.decimals(selected.itlP95Ms().mean(), 1));
      rows.append(" | ").append(Numbers.percent(selected.behindPrompts().mean()));
      rows.append(" | ").append(Numbers.rate(selected.tokenHitRate().mean()));
      rows.append(" | ").append(Numbers.decimals(selected.routedCv().mean(), 3));
      rows.append(" | ").append(Numbers.decimals(selected.routedMaxOverMin().mean(), 2));
      rows.append(" |\n");
      first = false;
    }
    return rows.toString();
  }

  /** A mean in whole milliseconds, with its interval if there is one. */
  static String estimate(Estimate estimate) {
    String mean = Numbers.decimals(estimate.mean(), 0);
    return Double.isNaN(estimate.halfWidth())
        ? mean
        : mean + " ± " + Numbers.decimals(estimate.halfWidth(), 0);
  }
}
