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
 * row shows each router's p95 time to first token in modelled milliseconds with its interval and
 * its token hit rate. The best router is in bold if it is beyond the {@link Noise}. In a saturated
 * case, each router's capacity follows the p95, and the best router is that of the highest one.
 *
 * <p>Stateless.
 */
public final class CellTable {

  private static final int CAPACITY_DECIMALS = 2;

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
      names.append(' ').append(router).append(" p95, modelled ms |");
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
    for (int router = 0; router < cell.policies().size(); router++) {
      Compared own = cell.policies().get(router);
      String p95 = estimate(own.of(Measure.TTFT_P95_MS)) + capacity(cell, own);
      row.append(' ').append(isBest(cell, router) ? "**" + p95 + "**" : p95).append(" |");
    }
    for (Compared router : cell.policies()) {
      row.append(' ').append(Numbers.rate(router.of(Measure.TOKEN_HIT_RATE).mean())).append(" |");
    }
    return row.append('\n').toString();
  }

  private static boolean isBest(Cell<PlayedLoad> cell, int router) {
    List<Estimate> p95s =
        cell.policies().stream().map(policy -> policy.of(Measure.TTFT_P95_MS)).toList();
    String mark =
        cell.saturated()
            ? Comparison.mark(
                cell.policies().stream().map(policy -> cell.capacity(policy.policy())).toList(),
                router,
                2 * CAPACITY_DECIMALS,
                Comparison.Better.HIGHER)
            : Comparison.mark(p95s, router, 0, Comparison.Better.LOWER);
    return mark.equals("best");
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
    return (isLess ? ", x < " : ", x ") + Numbers.decimals(mean, CAPACITY_DECIMALS);
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

  /** The name of the requests, without folders, engines, and workers with roles or ranks' mode. */
  private static String requests(Setting setting) {
    String name = setting.traffic().name();
    String file = name.substring(name.lastIndexOf('/') + 1);
    String difference = setting.difference();
    String played = difference.isEmpty() ? file : file + ", " + difference;
    if (setting.apart()) {
      return played
          + ", "
          + setting.prefillWorkers()
          + " prefill, "
          + setting.decodeWorkers()
          + " decode";
    }
    return setting.mode() == ReplayMode.AGGREGATED ? played : played + ", " + setting.mode().id();
  }

  /**
   * The figures of each router in each case, with ratios, and its results over all of them.
   *
   * @param cells the rows
   * @param routers names of the compared routers
   * @param basis the command and the build
   * @return a table of the figures, one with a line for each router, what its columns mean, in
   *     which cases requests were rejected, and what the results rest on
   */
  public static String summary(
      List<Cell<PlayedLoad>> cells, List<String> routers, ReportBasis basis) {
    StringBuilder table = new StringBuilder();
    if (routers.size() > 1) {
      table.append(FigureTable.of(cells)).append('\n');
    }
    table.append("| router | ").append(String.join(" | ", Standing.HEADS)).append(" |\n|");
    table.append("---|".repeat(1 + Standing.HEADS.size())).append('\n');
    for (String router : routers) {
      table.append("| ").append(router).append(" | ");
      table.append(String.join(" | ", Standing.of(cells, router).shown())).append(" |\n");
    }
    table.append('\n').append(Standing.LEGEND).append('\n');
    for (Cell<PlayedLoad> cell : cells) {
      String rejected = rejected(cell);
      if (!rejected.isEmpty()) {
        boolean much = Rejected.isMuch(rejectedShare(cell));
        table.append(much ? "\n!! " : "\n").append(rejected).append('\n');
      }
    }
    table.append('\n');
    StepTimes.of(cells).forEach(times -> table.append("Step times: ").append(times).append(".\n"));
    table.append("Command: ").append(basis.command()).append('\n');
    table.append("Kvasir ").append(basis.build()).append('\n');
    return table.toString();
  }

  /** A sentence about the requests that were rejected in a case; empty if there were none. */
  static String rejected(Cell<PlayedLoad> cell) {
    double rejected = rejectedShare(cell);
    return rejected == 0
        ? ""
        : name(cell.load())
            + ": "
            + Numbers.decimals(100 * rejected, 1)
            + " % of the requests fit into no pool.";
  }

  private static double rejectedShare(Cell<PlayedLoad> cell) {
    return cell.policies().stream()
        .mapToDouble(policy -> policy.of(Measure.REJECTED).mean())
        .max()
        .orElse(0);
  }
}
