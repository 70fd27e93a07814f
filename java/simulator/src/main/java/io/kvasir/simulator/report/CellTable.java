package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.replay.ReplayMode;
import java.util.List;

/**
 * Formats a comparison of routers as a Markdown table with one row for each load and pool size. A
 * row shows each router's p95 time to first token in milliseconds with its interval, the best in
 * bold (in a tie, all of them), and its token hit rate. In a saturated case, each router's capacity
 * follows the p95, and the best router is that of the highest one.
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
    Setting setting = cell.load().setting();
    row.append("| ").append(requests(setting));
    row.append(" | ").append(load(cell.load()));
    row.append(" | ").append(Numbers.count(setting.poolTokens()));
    row.append(" | ").append(speed(cell.load())).append(" |");
    for (Compared router : cell.policies()) {
      String p95 = estimate(router.of(Measure.TTFT_P95_MS)) + capacity(cell, router);
      boolean best =
          cell.saturated()
              ? capacity(cell, router).equals(capacity(cell, cell.best()))
              : isBest(cell, router);
      row.append(' ').append(best ? "**" + p95 + "**" : p95).append(" |");
    }
    for (Compared router : cell.policies()) {
      row.append(' ').append(Numbers.rate(router.of(Measure.TOKEN_HIT_RATE).mean())).append(" |");
    }
    return row.append('\n').toString();
  }

  /** Whether no router's mean p95 is shown as a lower number of milliseconds. */
  private static boolean isBest(Cell<?> cell, Compared router) {
    return wholeP95(router).equals(wholeP95(cell.best()));
  }

  private static String wholeP95(Compared router) {
    return Numbers.decimals(router.of(Measure.TTFT_P95_MS).mean(), 0);
  }

  /** A mean in whole milliseconds, with its interval if there is one. */
  private static String estimate(Estimate estimate) {
    String mean = Numbers.decimals(estimate.mean(), 0);
    return Double.isNaN(estimate.halfWidth())
        ? mean
        : mean + " ± " + Numbers.decimals(estimate.halfWidth(), 0);
  }

  /** In a saturated case, a router's capacity. */
  static String capacity(Cell<PlayedLoad> cell, Compared router) {
    if (!cell.saturated()) {
      return "";
    }
    double mean = cell.capacity(router.policy()).mean();
    boolean isLess = mean <= RouterComparison.LEAST_CAPACITY;
    return (isLess ? ", x < " : ", x ") + Numbers.decimals(mean, 2);
  }

  /** A case in one line. */
  static String name(PlayedLoad played) {
    Setting setting = played.setting();
    return requests(setting) + " " + load(played) + " " + Numbers.count(setting.poolTokens());
  }

  /** The load and, if another one was reached, that in brackets. */
  private static String load(PlayedLoad played) {
    Load load = played.setting().load();
    return load instanceof Load.Share share
            && Math.abs(played.reachedShare() - share.utilisation()) > 0.01
        ? load + " (" + Numbers.decimals(played.reachedShare(), 2) + ")"
        : load.toString();
  }

  private static String speed(PlayedLoad played) {
    return played.setting().load() instanceof Load.InFlight
        ? ""
        : Numbers.decimals(played.speed(), 3);
  }

  /** The name of the requests, without folders, and of the ranks' mode. */
  private static String requests(Setting setting) {
    String name = setting.traffic().name();
    String file = name.substring(name.lastIndexOf('/') + 1);
    return setting.mode() == ReplayMode.AGGREGATED ? file : file + ", " + setting.mode().id();
  }

  /**
   * The results of each router over all rows.
   *
   * @param cells the rows
   * @param routers names of the compared routers
   * @return a table with a line for each router, what its columns mean, and in which cases requests
   *     were rejected
   */
  public static String summary(List<Cell<PlayedLoad>> cells, List<String> routers) {
    StringBuilder table = new StringBuilder();
    table.append("| router | ").append(String.join(" | ", Standing.HEADS)).append(" |\n|");
    table.append("---|".repeat(1 + Standing.HEADS.size())).append('\n');
    for (String router : routers) {
      table.append("| ").append(router).append(" | ");
      table.append(String.join(" | ", Standing.of(cells, router).shown())).append(" |\n");
    }
    table.append('\n').append(Standing.LEGEND).append('\n');
    for (Cell<PlayedLoad> cell : cells) {
      double rejected = cell.best().of(Measure.REJECTED).mean();
      if (rejected > 0) {
        table.append('\n').append(name(cell.load())).append(": ");
        table.append(Numbers.percent(rejected)).append(" of the requests fit into no pool.\n");
      }
    }
    return table.toString();
  }
}
