package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.Ratio;
import java.util.ArrayList;
import java.util.List;

/**
 * The times to first token of each router in each case, p50, p95, p99 and mean, with their ratios
 * to the best other router's.
 *
 * <p>Stateless.
 */
final class FigureTable {

  static final List<String> HEADS =
      List.of("router", "p50 ms, ratio", "p95 ms, ratio", "p99 ms, ratio", "mean ms, ratio");

  private static final List<Measure> MEASURES =
      List.of(Measure.TTFT_P50_MS, Measure.TTFT_P95_MS, Measure.TTFT_P99_MS, Measure.TTFT_MEAN_MS);

  private FigureTable() {}

  /** A Markdown table, with a row for each router of each case. */
  static String of(List<Cell<PlayedLoad>> cells) {
    StringBuilder table = new StringBuilder();
    table.append("| requests, ranks@load, pool tokens | ").append(String.join(" | ", HEADS));
    table.append(" |\n|").append("---|".repeat(1 + HEADS.size())).append('\n');
    for (Cell<PlayedLoad> cell : cells) {
      for (Compared router : cell.policies()) {
        table.append("| ").append(CellTable.name(cell.load())).append(" | ");
        table.append(String.join(" | ", row(cell, router))).append(" |\n");
      }
    }
    return table.toString();
  }

  /** The cells of a router in a case, in the order of {@link #HEADS}. */
  static List<String> row(Cell<PlayedLoad> cell, Compared router) {
    List<String> row = new ArrayList<>(List.of(router.policy()));
    for (Measure measure : MEASURES) {
      String figure = Numbers.decimals(router.of(measure).mean(), 0);
      Ratio ratio = cell.ratio(measure, router.policy());
      row.add(ratio == null ? figure : figure + ", " + Numbers.ratio(ratio));
    }
    return row;
  }
}
