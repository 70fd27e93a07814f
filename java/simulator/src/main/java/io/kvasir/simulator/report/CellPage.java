package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a comparison of routers as one page without scripts and without other files: a table of
 * the routers, a chart of their distance from the best one, and a table of the cases. Figures carry
 * the path of the same figure in the JSON report.
 *
 * <p>Stateless.
 */
public final class CellPage {

  private static final int TIME_DECIMALS = 1;
  private static final int RATE_DECIMALS = 4;

  private CellPage() {}

  /**
   * Formats a comparison.
   *
   * @param cells at least one
   * @param routers names of the compared routers
   * @param basis the command and the build
   * @return the page
   */
  public static String of(List<Cell<PlayedLoad>> cells, List<String> routers, ReportBasis basis) {
    StringBuilder out = new StringBuilder();
    cells.stream()
        .map(CellTable::rejected)
        .filter(sentence -> !sentence.isEmpty())
        .forEach(sentence -> out.append(Html.banner(sentence)));
    out.append("<p class=\"note\">Latencies are modelled, not measured on a GPU.</p>\n");
    out.append(Html.basis("Step times: " + String.join("; ", StepTimes.of(cells)) + ".", basis));
    List<String> standingHeads = new ArrayList<>(List.of("router"));
    standingHeads.addAll(Standing.HEADS);
    out.append(
        Html.table(
            "Routers over all cases",
            standingHeads,
            routers.stream()
                .map(
                    router ->
                        Html.row(
                            router,
                            Standing.of(cells, router).shown().stream().map(Html::cell).toList()))
                .toList()));
    out.append(Html.paragraph(Standing.LEGEND));
    out.append("<h2>Distance from the best</h2>\n")
        .append(
            Html.paragraph(
                "Share of the cases in which a router's p95 of the time to first token is at most"
                    + " this multiple of the lowest one; in saturated cases, in which its capacity"
                    + " is at least the highest one divided by it."))
        .append(HtmlCharts.profile(cells, routers))
        .append(Html.legend(routers, Svg::lineSample))
        .append("<h2>Cases</h2>\n");
    cases(cells, routers, out);
    return Html.page("Routers under load", out.toString());
  }

  /** A table for each figure, so that each fits on the screen. */
  private static void cases(List<Cell<PlayedLoad>> cells, List<String> routers, StringBuilder out) {
    List<String> heads = new ArrayList<>(List.of("requests, ranks@load, pool tokens"));
    heads.addAll(routers);
    List<String> times = new ArrayList<>();
    List<String> hits = new ArrayList<>();
    List<String> capacities = new ArrayList<>();
    List<String> locals = new ArrayList<>();
    for (int index = 0; index < cells.size(); index++) {
      Cell<PlayedLoad> cell = cells.get(index);
      String name = CellTable.name(cell.load());
      times.add(Html.row(name, p95s(cell, index)));
      hits.add(Html.row(name, rates(cell, index, Measure.TOKEN_HIT_RATE)));
      if (cell.saturated()) {
        capacities.add(Html.row(name, capacities(cell, index)));
      }
      if (cell.load().setting().apart()) {
        locals.add(Html.row(name, rates(cell, index, Measure.LOCAL_PREFILL_SHARE)));
      }
    }
    out.append(Html.table("Time to first token, p95 in modelled ms", heads, times));
    out.append(
        Html.paragraph(
            "Best and worst are beyond 1 % of the next, and their 95 % intervals do not overlap."));
    if (!capacities.isEmpty()) {
      out.append(Html.table("Capacity, relative to the speed of the case", heads, capacities));
    }
    out.append(figures(cells));
    out.append(Html.table("Token hit rate", heads, hits));
    if (!locals.isEmpty()) {
      out.append(
          Html.table("Share of the requests that a decode worker serves whole", heads, locals));
    }
  }

  private static String figures(List<Cell<PlayedLoad>> cells) {
    List<String> heads = new ArrayList<>(List.of("requests, ranks@load, pool tokens"));
    heads.addAll(FigureTable.HEADS);
    List<String> rows = new ArrayList<>();
    for (Cell<PlayedLoad> cell : cells) {
      for (Compared router : cell.policies()) {
        List<String> row = FigureTable.row(cell, router).stream().map(Html::cell).toList();
        rows.add(Html.row(CellTable.name(cell.load()), row));
      }
    }
    return Html.table(
        "Times to first token and their ratios to the best other router's", heads, rows);
  }

  private static List<String> p95s(Cell<PlayedLoad> cell, int index) {
    List<Estimate> values =
        cell.policies().stream().map(policy -> policy.of(Measure.TTFT_P95_MS)).toList();
    List<String> row = new ArrayList<>();
    for (int router = 0; router < values.size(); router++) {
      String mark = Comparison.mark(values, router, TIME_DECIMALS, Comparison.Better.LOWER);
      row.add(
          Html.figure(
              path(index, router, Measure.TTFT_P95_MS),
              Numbers.decimals(values.get(router).mean(), TIME_DECIMALS),
              cell.saturated() ? "" : mark));
    }
    return row;
  }

  private static List<String> rates(Cell<PlayedLoad> cell, int index, Measure measure) {
    List<String> row = new ArrayList<>();
    for (int router = 0; router < cell.policies().size(); router++) {
      double rate = cell.policies().get(router).of(measure).mean();
      row.add(Html.figure(path(index, router, measure), Numbers.decimals(rate, RATE_DECIMALS), ""));
    }
    return row;
  }

  private static List<String> capacities(Cell<PlayedLoad> cell, int index) {
    List<Estimate> values =
        cell.policies().stream().map(policy -> cell.capacity(policy.policy())).toList();
    List<String> row = new ArrayList<>();
    for (int router = 0; router < values.size(); router++) {
      row.add(
          Html.figure(
              index + ".routers." + router + ".capacity.mean",
              Numbers.decimals(values.get(router).mean(), RATE_DECIMALS),
              Comparison.mark(values, router, RATE_DECIMALS, Comparison.Better.HIGHER)));
    }
    return row;
  }

  private static String path(int cell, int router, Measure measure) {
    return cell + ".routers." + router + "." + measure.key() + ".mean";
  }
}
