package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.Ratio;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one router does over all cases of a comparison. Without another router, there is no worst
 * case.
 *
 * <p>Immutable.
 *
 * @param cases number of cases
 * @param best cases in which its p95 is the lowest, or in a saturated case its capacity the
 *     highest; a tie counts for none
 * @param within cases in which it is the best or within the best one's interval
 * @param lowest cases in which the interval of its ratio to the best other one is below 1
 * @param close cases in which it is at most 5 % above the best other one
 * @param rated cases that have ratios of the p99 and of the mean: those that are not saturated
 * @param closeP99 cases in which its p99 is at most 10 % above the best other one
 * @param closeMean cases in which its mean is at most 5 % above the best other one
 * @param worst the case with the highest ratio
 * @param leastHits its least share of the best hit rate
 * @param router its name
 */
record Standing(
    int cases,
    long best,
    long within,
    long lowest,
    long close,
    long rated,
    long closeP99,
    long closeMean,
    @Nullable Cell<PlayedLoad> worst,
    double leastHits,
    String router) {

  /** What {@link #shown} gives. */
  static final List<String> HEADS =
      List.of(
          "best",
          "or in its interval",
          "clearly best",
          "within 5 %",
          "p99 within 10 %",
          "mean within 5 %",
          "worst ratio",
          "worst case",
          "least hits");

  /** What the heads mean, in one paragraph. */
  static final String LEGEND =
      "Best: alone with the lowest p95 of the time to first token; or a mean within the 95 %"
          + " interval of the lowest. The ratio is to the best other router's p95, with its 95 % interval by a"
          + " bootstrap of conversations and seeds; clearly best is a ratio whose interval is below"
          + " 1, within 5 % a ratio of at most 1.05; of the p99 and of the mean likewise, in cases that are not saturated. Least hits: the lowest share of the best hit"
          + " rate. A case is saturated if every router's p95 is above a limit; the speed up to which"
          + " it is not, relative to that of the case (x), takes the place of the p95.";

  private static final double CLOSE = 1.05;
  private static final double CLOSE_P99 = 1.1;

  static Standing of(List<Cell<PlayedLoad>> cells, String router) {
    List<Cell<PlayedLoad>> compared =
        cells.stream().filter(cell -> cell.ratio(Measure.TTFT_P95_MS, router) != null).toList();
    return new Standing(
        cells.size(),
        cells.stream()
            .filter(cell -> cell.best().policy().equals(router))
            .filter(cell -> shownAs(cell, shown(cell, cell.best())) == 1)
            .count(),
        cells.stream().filter(cell -> cell.withinBest(router)).count(),
        compared.stream().filter(cell -> ratio(cell, router).high() < 1).count(),
        compared.stream().filter(cell -> ratio(cell, router).mean() <= CLOSE).count(),
        within(compared, router, Measure.TTFT_MEAN_MS, Double.POSITIVE_INFINITY),
        within(compared, router, Measure.TTFT_P99_MS, CLOSE_P99),
        within(compared, router, Measure.TTFT_MEAN_MS, CLOSE),
        compared.stream()
            .max(Comparator.comparingDouble(cell -> ratio(cell, router).mean()))
            .orElse(null),
        cells.stream().mapToDouble(cell -> cell.shareOfBestHitRate(router)).min().orElse(1),
        router);
  }

  /** What routers are compared by. */
  private static String shown(Cell<PlayedLoad> cell, Compared router) {
    return cell.saturated()
        ? CellTable.capacity(cell, router)
        : Numbers.decimals(router.of(Measure.TTFT_P95_MS).mean(), 0);
  }

  /** The number of routers for which this is shown. */
  private static long shownAs(Cell<PlayedLoad> cell, String shown) {
    return cell.policies().stream().filter(router -> shown(cell, router).equals(shown)).count();
  }

  private static Ratio ratio(Cell<PlayedLoad> cell, String router) {
    return Objects.requireNonNull(cell.ratio(Measure.TTFT_P95_MS, router));
  }

  /** The cases in which a figure is at most so many times the best other one. */
  private static long within(
      List<Cell<PlayedLoad>> cells, String router, Measure measure, double most) {
    return cells.stream()
        .map(cell -> cell.ratio(measure, router))
        .filter(ratio -> ratio != null && ratio.mean() <= most)
        .count();
  }

  /** The values as text. */
  List<String> shown() {
    return List.of(
        of(best),
        of(within),
        of(lowest),
        of(close),
        closeP99 + " of " + rated,
        closeMean + " of " + rated,
        worst == null ? "" : Numbers.ratio(ratio(worst, router)),
        worst == null ? "" : CellTable.name(worst.load()),
        Numbers.percent(Math.floor(leastHits * 100) / 100));
  }

  private String of(long count) {
    return count + " of " + cases;
  }
}
