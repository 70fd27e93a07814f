package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
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
   * @return the page
   */
  public static String of(List<Cell<PlayedLoad>> cells, List<String> routers) {
    StringBuilder out = new StringBuilder();
    out.append("<p class=\"note\">Latencies are modelled, not measured on a GPU.</p>\n");
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
    List<String> heads = new ArrayList<>(List.of("requests, ranks@load, pool tokens"));
    routers.forEach(router -> heads.add(router + " p95 ms"));
    routers.forEach(router -> heads.add(router + " hit"));
    boolean saturated = cells.stream().anyMatch(Cell::saturated);
    if (saturated) {
      routers.forEach(router -> heads.add(router + " capacity"));
    }
    List<String> rows = new ArrayList<>();
    for (int cell = 0; cell < cells.size(); cell++) {
      List<String> row = row(cells, cell);
      if (saturated) {
        row.addAll(capacities(cells, cell));
      }
      rows.add(Html.row(CellTable.name(cells.get(cell).load()), row));
    }
    out.append(Html.table("Time to first token and hit rate by case", heads, rows));
    return Html.page("Routers under load", out.toString());
  }

  private static List<String> row(List<Cell<PlayedLoad>> cells, int index) {
    Cell<PlayedLoad> cell = cells.get(index);
    double[] p95s =
        cell.policies().stream()
            .mapToDouble(policy -> policy.of(Measure.TTFT_P95_MS).mean())
            .toArray();
    List<String> row = new ArrayList<>();
    for (int router = 0; router < cell.policies().size(); router++) {
      String mark = Comparison.mark(p95s, router, TIME_DECIMALS, Comparison.Better.LOWER);
      row.add(
          Html.figure(
              path(index, router, Measure.TTFT_P95_MS),
              Numbers.decimals(p95s[router], TIME_DECIMALS),
              cell.saturated() ? "" : mark));
    }
    for (int router = 0; router < cell.policies().size(); router++) {
      double hits = cell.policies().get(router).of(Measure.TOKEN_HIT_RATE).mean();
      row.add(
          Html.figure(
              path(index, router, Measure.TOKEN_HIT_RATE),
              Numbers.decimals(hits, RATE_DECIMALS),
              ""));
    }
    return row;
  }

  /** A cell for each router: its capacity, or nothing where the case is not saturated. */
  private static List<String> capacities(List<Cell<PlayedLoad>> cells, int index) {
    Cell<PlayedLoad> cell = cells.get(index);
    if (!cell.saturated()) {
      return cell.policies().stream().map(policy -> Html.cell("")).toList();
    }
    double[] capacities =
        cell.policies().stream()
            .mapToDouble(policy -> cell.capacity(policy.policy()).mean())
            .toArray();
    List<String> row = new ArrayList<>();
    for (int router = 0; router < capacities.length; router++) {
      row.add(
          Html.figure(
              index + ".routers." + router + ".capacity.mean",
              Numbers.decimals(capacities[router], RATE_DECIMALS),
              Comparison.mark(capacities, router, RATE_DECIMALS, Comparison.Better.HIGHER)));
    }
    return row;
  }

  private static String path(int cell, int router, Measure measure) {
    return cell + ".routers." + router + "." + measure.key() + ".mean";
  }
}
