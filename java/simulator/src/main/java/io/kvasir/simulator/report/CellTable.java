package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import java.util.List;
import java.util.Locale;

/**
 * Formats a comparison of routers as a Markdown table with one row for each load and pool size. A
 * row shows each router's p95 time to first token in milliseconds with its interval, the best in
 * bold (in a tie, all of them), and its token hit rate.
 *
 * <p>Stateless.
 */
public final class CellTable {

  private CellTable() {}

  /**
   * The table's header.
   *
   * @param routers names of the compared routers
   * @return two lines
   */
  public static String head(List<String> routers) {
    StringBuilder names = new StringBuilder("| requests | ranks@load | pool tokens | speed |");
    StringBuilder rule = new StringBuilder("|---|---|---|---|");
    for (String router : routers) {
      names.append(' ').append(router).append(" p95 ms |");
      rule.append("---|");
    }
    for (String router : routers) {
      names.append(' ').append(router).append(" hit |");
      rule.append("---|");
    }
    return names.append('\n').append(rule).append('\n').toString();
  }

  /**
   * One row.
   *
   * @param cell the comparison
   * @return a line
   */
  public static String row(Cell<PlayedLoad> cell) {
    StringBuilder row = new StringBuilder();
    row.append("| ")
        .append(cell.load().workload().substring(cell.load().workload().lastIndexOf('/') + 1));
    row.append(" | ").append(cell.load().load());
    if (Math.abs(cell.load().roundRobinShare() - cell.load().load().utilisation()) > 0.01) {
      row.append(" (").append(Numbers.decimals(cell.load().roundRobinShare(), 2)).append(')');
    }
    row.append(" | ").append(Numbers.count(cell.load().poolTokens()));
    row.append(" | ").append(Numbers.decimals(cell.load().speed(), 3)).append(" |");
    for (Compared router : cell.policies()) {
      String p95 = FleetTable.estimate(router.of(Measure.TTFT_P95_MS));
      boolean best = FleetTable.isBest(cell, router);
      row.append(' ').append(best ? "**" + p95 + "**" : p95).append(" |");
    }
    for (Compared router : cell.policies()) {
      row.append(' ').append(Numbers.rate(router.of(Measure.TOKEN_HIT_RATE).mean())).append(" |");
    }
    return row.append('\n').toString();
  }

  private static String p95(Compared router) {
    return Numbers.decimals(router.of(Measure.TTFT_P95_MS).mean(), 0);
  }

  /** The number of routers with a p95 that is shown like this. */
  private static long shownAs(Cell<PlayedLoad> cell, String p95) {
    return cell.policies().stream().filter(router -> p95(router).equals(p95)).count();
  }

  /**
   * The results of one router over all rows. A tie counts for none of its routers.
   *
   * @param cells the rows
   * @param router the router's name
   * @return a sentence on a line of its own
   */
  public static String summary(List<Cell<PlayedLoad>> cells, String router) {
    long best =
        cells.stream()
            .filter(cell -> cell.best().policy().equals(router))
            .filter(cell -> shownAs(cell, p95(cell.best())) == 1)
            .count();
    long within = cells.stream().filter(cell -> cell.withinBest(router)).count();
    double leastHits =
        cells.stream().mapToDouble(cell -> cell.shareOfBestHitRate(router)).min().orElse(1);
    return String.format(
        Locale.ROOT,
        "%s: best p95 in %d of %d rows, best or within the best one's interval in %d; at least"
            + " %.0f %% of the best hit rate%n",
        router,
        best,
        cells.size(),
        within,
        Math.floor(leastHits * 100));
  }
}
