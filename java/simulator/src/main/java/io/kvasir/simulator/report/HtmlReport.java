package io.kvasir.simulator.report;

import static io.kvasir.simulator.report.Comparison.Better.HIGHER;
import static io.kvasir.simulator.report.Comparison.Better.LOWER;

import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.replay.DurationSummary;
import io.kvasir.simulator.replay.Objective;
import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Writes replay reports as one page without scripts and without other files: a comparison, the
 * distribution of the time to first token, hit rate against the bound and the size of the pools,
 * goodput, and the load of each rank over time. Figures carry the path of the same figure in the
 * JSON report.
 *
 * <p>Not thread-safe.
 */
public final class HtmlReport {

  private static final int MAX_RANKS = 64;
  private static final int RATE_DECIMALS = 4;
  private static final int TIME_DECIMALS = 1;

  private final StringBuilder out = new StringBuilder();
  private final List<ReplayReport> reports;
  private final List<ReplayResult> results;
  private final Policies policies;
  private final List<String> names;

  private HtmlReport(List<ReplayReport> reports) {
    this.reports = reports;
    this.results = reports.stream().map(ReplayReport::result).toList();
    this.policies = new Policies(results);
    this.names = results.stream().map(policies::name).toList();
  }

  /**
   * Formats reports of one workload.
   *
   * @param reports at least one
   * @return the page
   */
  public static String of(List<ReplayReport> reports) {
    return new HtmlReport(reports).page();
  }

  private String page() {
    heading();
    comparison();
    legs();
    firstToken();
    hitRate();
    ranks();
    return Html.page("Replay of " + reports.get(0).workload().name(), out.toString());
  }

  private void heading() {
    rejections();
    ReplaySettings settings = results.get(0).settings();
    String workload =
        reports.get(0).workload().parameters().entrySet().stream()
            .map(parameter -> TextReport.words(parameter.getKey()) + " " + parameter.getValue())
            .collect(Collectors.joining(", "));
    paragraph("Seed " + reports.get(0).seed() + (workload.isEmpty() ? "." : ", " + workload + "."));
    paragraph(
        policies.ranks()
            + " with pools of "
            + Numbers.count(settings.pool().tokens())
            + " tokens in blocks of "
            + settings.pool().tokensPerBlock()
            + "; "
            + Numbers.count(results.get(0).requests())
            + " requests in "
            + Numbers.measure(results.get(0).virtualSeconds())
            + " s of modelled time.");
    out.append("<p class=\"note\">Latencies are modelled, not measured on a GPU.</p>\n");
    String unexpected = Unexpected.of(results.get(0));
    String times = "Step times: " + StepTimes.of(settings) + ".";
    String all = unexpected.isEmpty() ? times : times + " " + unexpected + ".";
    out.append(Html.basis(all, reports.get(0).basis()));
  }

  /** Says first where figures leave out many requests. */
  private void rejections() {
    for (ReplayResult result : results) {
      String rejected = Rejected.of(result);
      if (rejected != null) {
        out.append(Html.banner(policies.name(result) + ": " + rejected + "."));
      }
    }
  }

  private void paragraph(String text) {
    out.append(Html.paragraph(text));
  }

  private void comparison() {
    out.append("<h2>Comparison</h2>\n");
    best();
    jams();
    List<String> rows = new ArrayList<>();
    rows.add(figures("rejected requests", "rejected", 0, LOWER, ReplayResult::rejected));
    rows.add(
        figures(
            "token hit rate", "tokenHitRate", RATE_DECIMALS, HIGHER, ReplayResult::tokenHitRate));
    rows.add(durations("first token", "ttftMs", ReplayResult::ttft, "mean"));
    rows.add(durations("first token", "ttftMs", ReplayResult::ttft, "p50"));
    rows.add(durations("first token", "ttftMs", ReplayResult::ttft, "p95"));
    rows.add(durations("first token", "ttftMs", ReplayResult::ttft, "p99"));
    rows.add(durations("next token", "itlMs", ReplayResult::itl, "mean"));
    rows.add(durations("in queue", "queueMs", ReplayResult::queue, "mean"));
    rows.add(
        figures(
            "output tokens/s",
            "outputTokensPerSecond",
            TIME_DECIMALS,
            HIGHER,
            ReplayResult::outputTokensPerSecond));
    Objective objective = results.get(0).settings().measures().objective();
    if (objective != null) {
      rows.add(
          figures(
              "good requests/s",
              "goodput.requestsPerSecond",
              RATE_DECIMALS,
              HIGHER,
              result -> result.goodput().orElse(Double.NaN)));
      rows.add(
          figures(
              "share of good requests",
              "goodput.share",
              RATE_DECIMALS,
              HIGHER,
              result -> result.goodShare().orElse(Double.NaN)));
    }
    balance(rows);
    List<String> heads = new ArrayList<>(List.of("router"));
    heads.addAll(names);
    out.append(Html.table("Routers on the same requests", heads, rows));
    if (results.size() > 1) {
      paragraph("Best and worst differ from the next by more than 1 %.");
    }
    if (objective != null) {
      paragraph("A good request keeps " + objective + ".");
    }
    results.forEach(this::whatIf);
  }

  /** How evenly requests are spread: over all ranks, or over those of each role. */
  private void balance(List<String> rows) {
    if (results.get(0).apart() == null) {
      rows.add(figures("balance, CV", "routedCv", RATE_DECIMALS, LOWER, ReplayResult::routedCv));
      return;
    }
    rows.add(
        figures(
            "balance of prefill ranks, CV",
            "prefillRankCv",
            RATE_DECIMALS,
            LOWER,
            result -> result.routedPerPrefillRank().cv()));
    rows.add(
        figures(
            "balance of decode ranks, CV",
            "decodeRankCv",
            RATE_DECIMALS,
            LOWER,
            result -> result.routedPerDecodeRank().cv()));
  }

  /** Prefill and decode on different workers. */
  private void legs() {
    for (ReplayResult result : results) {
      ApartResult apart = result.apart();
      if (apart != null) {
        List<String> rows = new ArrayList<>();
        Legs.facts(apart)
            .forEach((name, value) -> rows.add(Html.row(name, List.of(Html.cell(value)))));
        for (List<String> row : Legs.rows(result)) {
          rows.add(
              Html.row(
                  row.get(0) + " ranks",
                  List.of(
                      Html.cell(
                          row.get(2)
                              + " requests, hit rate "
                              + row.get(5)
                              + ", busy "
                              + row.get(6)))));
        }
        out.append(
            Html.table("Prefill and decode under " + policies.name(result), List.of("", ""), rows));
      }
    }
  }

  /** What other fleet routers would have found. */
  private void whatIf(ReplayResult result) {
    FleetResult fleet = result.fleet();
    if (fleet == null || fleet.whatIf().isEmpty()) {
      return;
    }
    List<String> rows = new ArrayList<>();
    for (List<String> row : WhatIf.rows(fleet)) {
      rows.add(Html.row(row.get(0), row.subList(1, row.size()).stream().map(Html::cell).toList()));
    }
    out.append(
        Html.table("The requests of " + policies.name(result) + ", elsewhere", WhatIf.HEADS, rows));
    paragraph(
        "Hits and spread on virtual ranks that hold prompts only, for "
            + fleet.settings().router().name()
            + " itself and for other routers.");
  }

  private void jams() {
    for (ReplayResult result : results) {
      String jam = Jam.of(result);
      if (jam != null) {
        out.append("<p>")
            .append(Html.escape(policies.name(result) + " jams: " + jam))
            .append(".</p>\n");
      }
    }
  }

  /** Names the routers with the lowest p95, which may be far to the right in the table. */
  private void best() {
    if (results.size() == 1) {
      return;
    }
    List<ReplayResult> lowest =
        Comparison.lowest(results, TIME_DECIMALS, result -> result.ttft().p95Ms());
    int first = results.indexOf(lowest.get(0));
    out.append("<p>Lowest p95 of the time to first token: <b>")
        .append(
            lowest.size() == results.size()
                ? "all alike"
                : Html.escape(
                    lowest.stream().map(policies::name).collect(Collectors.joining(", "))))
        .append("</b>, ")
        .append(
            Html.span(
                first + ".ttftMs.p95",
                Numbers.decimals(lowest.get(0).ttft().p95Ms(), TIME_DECIMALS)))
        .append(" ms.</p>\n");
  }

  private String durations(
      String name, String field, Function<ReplayResult, DurationSummary> of, String statistic) {
    return figures(
        name + ", " + statistic + " ms",
        field + "." + statistic,
        TIME_DECIMALS,
        LOWER,
        result -> statistic(of.apply(result), statistic));
  }

  private static double statistic(DurationSummary durations, String statistic) {
    return switch (statistic) {
      case "mean" -> durations.meanMs();
      case "p50" -> durations.p50Ms();
      case "p90" -> durations.p90Ms();
      case "p95" -> durations.p95Ms();
      case "p99" -> durations.p99Ms();
      default -> durations.maxMs();
    };
  }

  private String figures(
      String name,
      String path,
      int decimals,
      Comparison.Better better,
      ToDoubleFunction<ReplayResult> value) {
    double[] values = results.stream().mapToDouble(value).toArray();
    List<String> cells = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      String mark = Comparison.mark(Comparison.exact(values), i, decimals, better);
      cells.add(Html.figure(i + "." + path, Numbers.decimals(values[i], decimals), mark));
    }
    return Html.row(name, cells);
  }

  private void firstToken() {
    out.append("<h2>Time to first token</h2>\n");
    paragraph(
        "Share of the requests whose first token came within the time below, on a logarithmic axis.");
    out.append(HtmlCharts.firstToken(results));
    out.append(Html.legend(names, Svg::lineSample));
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      List<String> cells = new ArrayList<>();
      for (String statistic : List.of("mean", "p50", "p90", "p95", "p99", "max")) {
        double value = statistic(results.get(i).ttft(), statistic);
        cells.add(
            Html.figure(i + ".ttftMs." + statistic, Numbers.decimals(value, TIME_DECIMALS), ""));
      }
      rows.add(Html.row(names.get(i), cells));
    }
    out.append(
        Html.table(
            "Time to first token in modelled ms",
            List.of("router", "mean", "p50", "p90", "p95", "p99", "max"),
            rows));
  }

  private void hitRate() {
    out.append("<h2>Hit rate</h2>\n");
    paragraph(
        "Each ring is a router's token hit rate, at the size of its ranks' pools together. The dashed"
            + " line is the hit rate of a single pool of each size, shared by all ranks. It ends at"
            + " the upper bound, which no placement can exceed by much.");
    out.append(HtmlCharts.hitRate(results));
    out.append(Html.legend(names, Svg::ringSample));
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      ReplayResult result = results.get(i);
      rows.add(
          Html.row(
              names.get(i),
              List.of(
                  rate(i + ".tokenHitRate", result.tokenHitRate()),
                  rate(i + ".upperBoundTokenHitRate", result.upperBoundTokenHitRate()),
                  Html.figure(
                      i + ".evictedBlocks",
                      Numbers.count(result.sum(RankResult::evictedBlocks)),
                      ""))));
    }
    out.append(
        Html.table(
            "Token hit rate",
            List.of("router", "hit rate", "upper bound", "evicted blocks"),
            rows));
  }

  private static String rate(String path, double value) {
    return Html.figure(path, Numbers.decimals(value, RATE_DECIMALS), "");
  }

  private void ranks() {
    out.append("<h2>Load of each rank over time</h2>\n");
    paragraph(
        "The stronger the colour, the larger the share of the time in which the rank computed. A rank"
            + " that is faint while others are strong waits for them.");
    for (int i = 0; i < results.size(); i++) {
      ReplayResult result = results.get(i);
      int shown = Math.min(MAX_RANKS, result.ranks().size());
      out.append("<h3>").append(Html.escape(names.get(i))).append("</h3>\n");
      out.append(HtmlCharts.load(result, names.get(i), "load" + i, shown));
      List<String> rows = new ArrayList<>();
      for (int rank = 0; rank < shown; rank++) {
        rows.add(rank(i + ".perRank." + rank + ".", result, rank));
      }
      out.append("<details><summary>Figures of each rank</summary>\n")
          .append(
              Html.table(
                  "Ranks under " + names.get(i),
                  List.of(
                      "rank",
                      "requests",
                      "prompt tokens",
                      "from cache",
                      "hit rate",
                      "evicted blocks"),
                  rows))
          .append("</details>\n");
      if (shown < result.ranks().size()) {
        paragraph("The first " + shown + " of " + result.ranks().size() + " ranks.");
      }
    }
  }

  private static String rank(String path, ReplayResult result, int rank) {
    RankResult of = result.ranks().get(rank);
    return Html.row(
        HtmlCharts.rankName(result, rank),
        List.of(
            Html.figure(path + "requests", Numbers.count(of.requests()), ""),
            Html.figure(path + "inputTokens", Numbers.count(of.inputTokens()), ""),
            Html.figure(path + "cachedTokens", Numbers.count(of.cachedTokens()), ""),
            rate(path + "tokenHitRate", of.tokenHitRate()),
            Html.figure(path + "evictedBlocks", Numbers.count(of.evictedBlocks()), "")));
  }
}
