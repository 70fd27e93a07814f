package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.simulator.report.CellTable;
import java.util.List;
import org.junit.jupiter.api.Test;

class CellTest {

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
  void aMeanWithinTheBestOnesIntervalMayBeChance() {
    assertThat(cell(100, 10, 109).withinBest(AdpRouterKind.PROJECTED)).isTrue();
    assertThat(cell(100, 10, 111).withinBest(AdpRouterKind.PROJECTED)).isFalse();
    assertThat(cell(100, 10, 99).best().router()).isEqualTo(AdpRouterKind.PROJECTED);
    assertThat(cell(100, Double.NaN, 100).withinBest(AdpRouterKind.PROJECTED)).isTrue();
    assertThat(cell(100, Double.NaN, 101).withinBest(AdpRouterKind.PROJECTED)).isFalse();
  }

  @Test
  void hitRatesAreReadAgainstTheBest() {
    assertThat(cell(100, 1, 99).shareOfBestHitRate(AdpRouterKind.PROJECTED))
        .isCloseTo(0.9, within(1e-9));
    assertThat(cell(100, 1, 99).shareOfBestHitRate(AdpRouterKind.DEFAULT)).isEqualTo(1);
  }

  @Test
  void aRowShowsTheBestInBoldAndTheSummaryCounts() {
    assertThat(CellTable.row(cell(100, 10, 1_234)))
        .isEqualTo(
            "| t.jsonl | 8@0.8 (0.70) | 1,000 | 1.500 | **100 ± 10** | 1,234 ± 5 | 0.5000 | 0.4500 |\n");
    assertThat(
            CellTable.summary(
                List.of(cell(100, 10, 99), cell(100, 10, 105), cell(100, 10, 200)),
                AdpRouterKind.PROJECTED))
        .startsWith(
            "projected: best p95 in 1 of 3 rows, best or within the best one's interval in 2; at"
                + " least 90 % of the best hit rate");
  }

  private static Cell cell(double first, double halfWidth, double projected) {
    return new Cell(
        "traces/t.jsonl",
        new Load(8, 0.8),
        1_000,
        1.5,
        0.7,
        List.of(
            compared(AdpRouterKind.DEFAULT, new Estimate(first, halfWidth), 0.5),
            compared(AdpRouterKind.PROJECTED, new Estimate(projected, 5), 0.45)));
  }

  private static Compared compared(AdpRouterKind router, Estimate p95, double hits) {
    Estimate other = new Estimate(0.1, 0);
    return new Compared(router, p95, other, new Estimate(hits, 0), other, other);
  }
}
