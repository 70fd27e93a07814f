package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.report.CellPage;
import io.kvasir.simulator.report.CellTable;
import io.kvasir.simulator.report.ReportBasis;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class CellTest {

  private static final ReportBasis BASIS =
      new ReportBasis("kvasir bench policies", "1.0 (commit 1234567)");

  private static final List<String> NAMES = List.of("default", "projected");

  private static final Traffic.Source NO_REQUESTS =
      (speed, seed) -> {
        throw new AssertionError("not played");
      };

  @Test
  void anIntervalIsStudentsT() {
    // Values 1 to 5: deviation 1.5811, 2.776 of them over the root of 5.
    Estimate estimate = Estimate.of(1, 2, 3, 4, 5);
    assertThat(estimate.mean()).isEqualTo(3);
    assertThat(estimate.halfWidth()).isCloseTo(1.963, within(0.001));
    assertThat(Estimate.of(4, 4, 4).halfWidth()).isZero();
    assertThat(Estimate.of(4).halfWidth()).isNaN();
    assertThatThrownBy(() -> Estimate.of())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("there must be 1 to 10 values, not 0");
  }

  @Test
  void aRatioOfOneSeedHasNoInterval() {
    assertThat(Ratio.of(new double[] {2}, new double[] {1}))
        .isEqualTo(new Ratio(2, Double.NaN, Double.NaN));
    Cell<PlayedLoad> cell =
        cell(100, 10, 200)
            .withCapacities(Map.of("default", new double[] {0.5}, "projected", new double[] {1}));
    assertThat(CellTable.summary(List.of(cell), List.of("projected"), BASIS))
        .contains("| projected | 1 of 1 | 1 of 1 | 0 of 1 | 1 of 1 | 0 of 0 | 0 of 0 | 0.50 |");
  }

  @Test
  void aMeanWithinTheBestOnesIntervalMayBeChance() {
    assertThat(cell(100, 10, 109).withinBest("projected")).isTrue();
    assertThat(cell(100, 10, 111).withinBest("projected")).isFalse();
    assertThat(cell(100, 10, 99).best().policy()).isEqualTo("projected");
    assertThat(cell(100, Double.NaN, 100).withinBest("projected")).isTrue();
    assertThat(cell(100, Double.NaN, 101).withinBest("projected")).isFalse();
  }

  @Test
  void hitRatesAreReadAgainstTheBest() {
    assertThat(cell(100, 1, 99).shareOfBestHitRate("projected")).isCloseTo(0.9, within(1e-9));
    assertThat(cell(100, 1, 99).shareOfBestHitRate("default")).isEqualTo(1);
  }

  @Test
  void aRowShowsTheBestInBoldAndTheSummaryCounts() {
    assertThat(CellTable.row(cell(100, 10, 1_234)))
        .isEqualTo(
            "| t.jsonl | 8@0.8 (0.70) | 1,000 | 1.500 | **100 ± 10** | 1,234 ± 5 | 0.5000 | 0.4500 |\n");
    List<Cell<PlayedLoad>> cells =
        List.of(cell(100, 10, 99), cell(100, 10, 105), cell(100, 10, 200));
    assertThat(CellTable.summary(cells, List.of("projected"), BASIS).lines().skip(2))
        .startsWith(
            "| projected | 1 of 3 | 2 of 3 | 3 of 3 | 2 of 3 | 3 of 3 | 0 of 3 | 2.00 (0.90 to 0.95)"
                + " | t.jsonl 8@0.8 (0.70) 1,000 | 90 % |")
        .containsSubsequence(
            "!! t.jsonl 8@0.8 (0.70) 1,000: 25.0 % of the requests fit into no pool.",
            "Command: kvasir bench policies", "Kvasir 1.0 (commit 1234567)");
  }

  @Test
  void noRouterIsBestWithinTheNoise() {
    assertThat(CellTable.row(cell(100, 10, 114)))
        .as("intervals overlap")
        .contains("| 100 ± 10 | 114 ± 5 |");
    assertThat(CellTable.row(cell(100, 10, 116))).contains("| **100 ± 10** | 116 ± 5 |");
    assertThat(CellTable.row(cell(1000, Double.NaN, 1010)))
        .as("1 %, without intervals")
        .contains("| 1,000 | 1,010 ± 5 |");
    assertThat(CellTable.row(cell(1000, Double.NaN, 985))).contains("| 1,000 | **985 ± 5** |");
  }

  @Test
  void aPageMarksNoRouterWithinTheNoiseAndBeginsWithRejections() {
    String close = CellPage.of(List.of(cell(100, 10, 114)), NAMES, BASIS);
    assertThat(close).doesNotContain("class=\"best\"", "class=\"worst\"");
    assertThat(CellPage.of(List.of(cell(100, 10, 120)), NAMES, BASIS))
        .contains("class=\"best\"", "class=\"worst\"");
    assertThat(close)
        .containsSubsequence(
            "<h1>",
            "<p class=\"banner\">t.jsonl 8@0.8 (0.70) 1,000: 25.0 % of the requests fit into no"
                + " pool.</p>",
            "Step times: prefill of n tokens",
            "<code>kvasir bench policies</code> with Kvasir 1.0 (commit 1234567)");
  }

  @Test
  void aPageHasATableForEachFigureSoThatItFits() {
    assertThat(CellPage.of(List.of(cell(100, 10, 114)), NAMES, BASIS))
        .containsSubsequence(
            "<caption>Time to first token, p95 in modelled ms</caption>",
            "<th scope=\"col\">default</th><th scope=\"col\">projected</th></tr>",
            "<caption>Token hit rate</caption>",
            "<th scope=\"col\">default</th><th scope=\"col\">projected</th></tr>");
  }

  @Test
  void aSaturatedCaseIsComparedByCapacity() {
    Cell<PlayedLoad> cell =
        cell(100, 10, 200)
            .withCapacities(
                Map.of("default", new double[] {0.5, 0.5}, "projected", new double[] {0.6, 0.8}));
    assertThat(cell.best().policy()).isEqualTo("projected");
    assertThat(cell.overLowest("default")).isCloseTo(1.4, within(1e-9));
    assertThat(cell.withinBest("default")).as("0.7 with an interval of 1.27").isTrue();
    assertThat(ratio(cell, Measure.TTFT_P95_MS).mean())
        .isCloseTo(Math.sqrt(0.5 * 0.5 / (0.6 * 0.8)), within(1e-9));
    assertThat(CellTable.row(cell)).contains("| 100 ± 10, x 0.50 | 200 ± 5, x 0.70 |");
    assertThat(CellTable.summary(List.of(cell), List.of("projected"), BASIS))
        .contains(
            "| projected | 1 of 1 | 1 of 1 | 0 of 1 | 1 of 1 | 0 of 0 | 0 of 0"
                + " | 0.72 (0.12 to 4.49) |");
  }

  @Test
  void aCapacityBelowTheLeastThatIsTriedIsShownAsABound() {
    Cell<PlayedLoad> cell =
        cell(100, 10, 200)
            .withCapacities(
                Map.of(
                    "default",
                    new double[] {RouterComparison.LEAST_CAPACITY},
                    "projected",
                    new double[] {0.02}));
    assertThat(CellTable.row(cell)).contains("| 100 ± 10, x < 0.02 | **200 ± 5, x 0.02** |");
  }

  private static Ratio ratio(Cell<?> cell, Measure measure) {
    return Objects.requireNonNull(cell.ratio(measure, "projected"));
  }

  private static Cell<PlayedLoad> cell(double first, double halfWidth, double projected) {
    return new Cell<>(
        new PlayedLoad(
            new Setting(
                new Traffic("traces/t.jsonl", "", NO_REQUESTS, NO_REQUESTS, 0),
                ReplayMode.AGGREGATED,
                new Load.Share(8, 0.8),
                1_000),
            1.5,
            0.7),
        List.of(
            compared("default", new Estimate(first, halfWidth), 0.5),
            compared("projected", new Estimate(projected, 5), 0.45)),
        Map.of(
            Measure.TTFT_P95_MS,
            Map.of("projected", new Ratio(projected / first, 0.9, 0.95)),
            Measure.TTFT_P99_MS,
            Map.of("projected", new Ratio(1.09, 1, 1.2)),
            Measure.TTFT_MEAN_MS,
            Map.of("projected", new Ratio(1.06, 1, 1.2))),
        Map.of());
  }

  private static Compared compared(String router, Estimate p95, double hits) {
    return new Compared(
        router,
        Map.of(
            Measure.TTFT_P50_MS,
            p95,
            Measure.TTFT_P95_MS,
            p95,
            Measure.TTFT_P99_MS,
            p95,
            Measure.TTFT_MEAN_MS,
            p95,
            Measure.TOKEN_HIT_RATE,
            new Estimate(hits, 0),
            Measure.REJECTED,
            new Estimate(0.25, 0)));
  }
}
