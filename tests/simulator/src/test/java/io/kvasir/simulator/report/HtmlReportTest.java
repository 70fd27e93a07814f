package io.kvasir.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Objective;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class HtmlReportTest {

  private static final Pattern FIGURE =
      Pattern.compile("data-json=\"(\\d+)\\.([^\"]+)\"><span>([^<]*)</span>");

  private static final Objective OBJECTIVE = new Objective(60, 20, Double.POSITIVE_INFINITY);

  private static List<ReplayReport> reports(int poolTokens) {
    MultiTurn workload =
        new MultiTurn(
            new MultiTurn.Shape(
                20,
                new Starts.Closed(8, 0),
                200,
                new IntRange(2, 5),
                new LognormalTokens(90, 1),
                new IntRange(10, 30),
                new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
                42));
    List<ReplayReport> reports = new ArrayList<>();
    for (AdpRouterKind router :
        List.of(AdpRouterKind.DEFAULT, AdpRouterKind.KV_CACHE_AWARE, AdpRouterKind.PROJECTED)) {
      ReplaySettings settings =
          new ReplaySettings(3, poolTokens, 32)
              .withRouter(router)
              .withMeasures(new Measures(OBJECTIVE, true, false));
      reports.add(
          new ReplayReport(
              workload,
              42,
              OptionalDouble.empty(),
              new ReportBasis("kvasir replay --seed 42", "1.0 (commit 1234567)"),
              Replay.run(workload, settings, RankPools.Place.HOST, ReplayProgress.SILENT)));
    }
    return reports;
  }

  private static JsonNode json(List<ReplayReport> reports) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    JsonReport.write(reports, bytes);
    return new ObjectMapper().readTree(bytes.toByteArray());
  }

  private static int assertSameFigures(List<ReplayReport> reports) throws IOException {
    JsonNode json = json(reports);
    Matcher figures = FIGURE.matcher(HtmlReport.of(reports));
    int found = 0;
    while (figures.find()) {
      JsonNode value =
          json.get(Integer.parseInt(figures.group(1))).at("/" + figures.group(2).replace('.', '/'));
      String shown = figures.group(3).replace(",", "");
      assertThat(value.isMissingNode()).as(figures.group()).isFalse();
      if (value.isNull()) {
        assertThat(shown).as(figures.group()).isEqualTo("-");
      } else {
        int point = shown.indexOf('.');
        int decimals = point < 0 ? 0 : shown.length() - point - 1;
        assertThat(Double.parseDouble(shown))
            .as(figures.group())
            .isCloseTo(value.asDouble(), within(0.5 * Math.pow(10, -decimals) + 0.0006));
      }
      found++;
    }
    return found;
  }

  @Test
  void thePageShowsTheFiguresOfTheJson() throws IOException {
    assertThat(assertSameFigures(reports(2048))).isEqualTo(1 + 3 * (12 + 6 + 3 + 3 * 5));
  }

  @Test
  void thePageOfAReplayThatServedNothingHasDashes() throws IOException {
    assertThat(assertSameFigures(reports(32))).isPositive();
  }

  @Test
  void theRouterWithTheLowestP95IsNamedAboveTheTable() {
    List<ReplayReport> reports = reports(2048);
    ReplayReport best =
        Collections.min(
            reports, Comparator.comparingDouble(report -> report.result().ttft().p95Ms()));
    String sentence = "Lowest p95 of the time to first token: <b>";
    assertThat(HtmlReport.of(reports))
        .containsSubsequence(
            "<h2>Comparison</h2>",
            sentence + best.result().settings().routing().router().id() + "</b>, ",
            "<table>");
    assertThat(HtmlReport.of(List.of(reports.get(0), reports.get(0))))
        .contains(sentence + "all alike</b>, ");
    assertThat(HtmlReport.of(reports.subList(0, 1))).doesNotContain(sentence);
  }

  @Test
  void rejectedRequestsComeFirstAndAreCounted() {
    List<ReplayReport> reports = reports(256);
    assertThat(reports.get(0).result().rejected()).isPositive();
    long rejected = reports.get(0).result().rejected();
    long requests = reports.get(0).result().requests();
    String words = "default: " + rejected + " of " + requests + " requests were rejected (";
    assertThat(HtmlReport.of(reports))
        .containsSubsequence(
            "<h1>",
            "<p class=\"banner\">" + words,
            "<h2>Comparison</h2>",
            ">rejected requests</th>");
    assertThat(TextReport.of(reports))
        .containsSubsequence("!! " + words, "-- comparison -", "rejected requests ");
    assertThat(HtmlReport.of(reports(8192)))
        .contains(">rejected requests</th>")
        .doesNotContain("class=\"banner\"");
    assertThat(TextReport.of(reports(8192))).doesNotContain("!! ", "rejected requests");
  }

  @Test
  void aReportSaysWhatItRestsOn() throws IOException {
    List<ReplayReport> reports = reports(2048);
    String times =
        "Step times: prefill of n tokens 4.21e-07 n^2 + 0.0152 n + 16.5 ms, decode -25.7 p^2 + 54.0 p"
            + " + 5.74, at least 1.00 ms, p being the share of 1,048,576 KV tokens, the defaults and"
            + " not those of your engine (--step-timing)";
    assertThat(HtmlReport.of(reports))
        .contains(
            times + ".</p>",
            "Made by <code>kvasir replay <span class=\"option\">--seed</span> 42</code> with Kvasir 1.0 (commit 1234567).");
    assertThat(TextReport.of(reports).replaceAll("\\n", " "))
        .contains(times, "Command: kvasir replay --seed 42", "Kvasir 1.0 (commit 1234567)");
    JsonNode json = json(reports).get(0);
    assertThat(json.get("build").asText()).isEqualTo("1.0 (commit 1234567)");
    assertThat(json.at("/config/stepTiming/prefillConstantMs").asDouble()).isPositive();
  }

  @Test
  void whatIsStrongerThanTheRestIsBusierInLightAndInTheDark() {
    assertThat(HtmlReport.of(reports(2048)))
        .contains("The stronger the colour, the larger the share")
        .doesNotContain("darker", " dark ");
  }

  @Test
  void wideTablesScrollUnderTheirFirstColumnAndShowWhereTheyAreCut() {
    assertThat(HtmlReport.of(reports(2048)).replaceAll("\\s+", " "))
        .contains(
            ".scroll tr > :first-child { position: sticky; left: 0; z-index: 1; background: var(--page);",
            "linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat scroll")
        .contains("<th scope=\"row\">kv_<wbr>cache_<wbr>aware</th>");
  }

  @Test
  void commandsBreakBetweenWordsAndItems() {
    String page =
        Html.basis("", new ReportBasis("kvasir replay --fleet-router cost,affinity", "1.0"));
    assertThat(page)
        .contains("<span class=\"option\">--fleet-router</span> cost,<wbr>affinity</code>");
  }

  @Test
  void onlyLongCellsBreak() {
    assertThat(Html.cell("1.08 (0.94 to 1.20)")).startsWith("<td>");
    assertThat(Html.cell("trace.jsonl 2@0.8 (0.40) 200,000")).startsWith("<td class=\"long\">");
    assertThat(Html.table("t", List.of("within 5 %"), List.of())).contains("within 5&nbsp;%<");
  }

  @Test
  void narrowScreensHaveChartsOfTheirOwn() {
    assertThat(HtmlReport.of(reports(2048)))
        .contains("<svg class=\"wide\" viewBox=\"0 0 720 300\"")
        .contains("<svg class=\"narrow\" viewBox=\"0 0 400 300\"")
        .containsOnlyOnce("id=\"first-token\"")
        .containsOnlyOnce("id=\"first-token-narrow\"");
  }

  @Test
  void thePageNeedsNothingElse() {
    String page = HtmlReport.of(reports(2048));
    assertThat(page)
        .doesNotContain("<script", "<link", "<img", "src=", "href=", "url(", "@import", "NaN")
        .contains("<html lang=\"en\">", "prefers-color-scheme: dark", "@media print");
  }

  @Test
  void goodRequestsAreCounted() {
    ReplayReport report = reports(2048).get(0);
    assertThat(report.result().goodRequests().orElse(-1))
        .isPositive()
        .isLessThan(report.result().requests());
    assertThat(TextReport.of(List.of(report)))
        .containsPattern("goodput +[0-9.]+ requests/s, [0-9.]+ % keep ttft 60 ms, tpot 20 ms");
  }

  @Test
  void theLineOfTheHitRateEndsAtTheUpperBound() {
    for (ReplayReport report : reports(8192)) {
      assertThat(report.result().rejected()).isZero();
      var points = report.result().reuse().points();
      assertThat(points.get(points.size() - 1).hitRate())
          .isCloseTo(report.result().upperBoundTokenHitRate(), within(1e-9));
    }
  }
}
