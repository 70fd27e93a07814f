package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReuseCurve;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The charts of the HTML report. */
final class HtmlCharts {

  private static final int HEIGHT = 300;
  private static final int LEVELS = 4;
  private static final int PARTS = 120;
  private static final int MAP_LEFT = 76;
  private static final int MAP_BOTTOM = 40;
  private static final int MAP_ROW = 18;

  /** Rows of a map that has room for high rows, whose labels are readable on narrow screens. */
  private static final int FEW_ROWS = 16;

  private static final int HIGH_MAP_ROW = 28;
  private static final double TEN = 10;

  /** A p95 beyond this multiple of the lowest one is beyond the chart. */
  private static final double MOST_MULTIPLE = 5;

  private HtmlCharts() {}

  /**
   * A logarithmic axis with a tick at each power of ten and, if it is short, at 2 and 5 between.
   */
  private record LogAxis(double first, double last, List<Double> ticks) {

    private static final int FEW_TICKS = 7;
    private static final int FEW_NARROW_TICKS = 4;

    static LogAxis over(double least, double most) {
      List<Double> fine = ticks(Math.max(least, 1e-3), Math.max(most, 1e-3), 1, 2, 5);
      List<Double> ticks =
          fine.size() <= FEW_TICKS ? fine : ticks(Math.max(least, 1e-3), Math.max(most, 1e-3), 1);
      return new LogAxis(
          Math.log10(ticks.get(0)), Math.log10(ticks.get(ticks.size() - 1)), List.copyOf(ticks));
    }

    /** From the last tick that is not above the least value to the first that is above the most. */
    private static List<Double> ticks(double least, double most, int... factors) {
      List<Double> ticks = new ArrayList<>();
      for (double power = Math.pow(TEN, Math.floor(Math.log10(least))); ; power *= TEN) {
        for (int factor : factors) {
          double tick = factor * power;
          if (tick <= least) {
            ticks.clear();
          }
          ticks.add(tick);
          if (tick > most && ticks.size() > 1) {
            return ticks;
          }
        }
      }
    }

    double share(double value) {
      double exponent = value > 0 ? Math.log10(value) : first;
      return Math.min(1, Math.max(0, (exponent - first) / (last - first)));
    }

    /** Adds the grid lines. On narrow charts with many of them, only every second has a label. */
    void addTo(Svg svg) {
      int last = ticks.size() - 1;
      boolean sparse = svg.isNarrow() && ticks.size() > FEW_NARROW_TICKS;
      for (int i = 0; i <= last; i++) {
        double tick = ticks.get(i);
        svg.tick(i == last ? 1 : share(tick), sparse && (last - i) % 2 == 1 ? "" : shown(tick));
      }
    }

    private static String shown(double value) {
      if (value >= 1e9) {
        return Numbers.count(Math.round(value / 1e9)) + " G";
      }
      if (value >= 1e6) {
        return Numbers.count(Math.round(value / 1e6)) + " M";
      }
      return value >= 1 ? Numbers.count(Math.round(value)) : Numbers.decimals(value, 3);
    }
  }

  private static void shares(Svg svg) {
    for (int level = 0; level <= LEVELS; level++) {
      double share = (double) level / LEVELS;
      svg.level(share, Numbers.percent(share));
    }
  }

  /** The cumulative distribution of the time to first token. */
  static String firstToken(List<ReplayResult> results) {
    return firstToken(results, false) + firstToken(results, true);
  }

  private static String firstToken(List<ReplayResult> results, boolean narrow) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (ReplayResult result : results) {
      for (double quantile : result.ttft().quantilesMs()) {
        least = Math.min(least, quantile);
        most = Math.max(most, quantile);
      }
    }
    LogAxis axis = LogAxis.over(Math.min(least, Math.max(most, 1)), most);
    Svg svg =
        Svg.shaped(
            narrow, HEIGHT, "first-token", "Cumulative distribution of the time to first token");
    shares(svg);
    axis.addTo(svg);
    svg.axis("modelled ms");
    for (int series = 0; series < results.size(); series++) {
      List<Double> quantiles = results.get(series).ttft().quantilesMs();
      double[] xs = quantiles.stream().mapToDouble(axis::share).toArray();
      double[] ys = new double[xs.length];
      for (int i = 0; i < ys.length; i++) {
        ys[i] = (double) i / (ys.length - 1);
      }
      svg.line(series, xs, ys);
    }
    return svg.end();
  }

  /**
   * For each policy, the share of the cases in which its p95 is at most a multiple of the lowest
   * one.
   */
  static String profile(List<? extends Cell<?>> cells, List<String> names) {
    return profile(cells, names, false) + profile(cells, names, true);
  }

  private static String profile(List<? extends Cell<?>> cells, List<String> names, boolean narrow) {
    LogAxis axis = LogAxis.over(1, MOST_MULTIPLE - 1);
    Svg svg =
        Svg.shaped(narrow, HEIGHT, "profile", "Share of cases by p95 relative to the lowest one");
    shares(svg);
    axis.addTo(svg);
    svg.axis("p95 of the time to first token / lowest p95");
    for (int series = 0; series < names.size(); series++) {
      String name = names.get(series);
      double[] multiples = cells.stream().mapToDouble(cell -> cell.overLowest(name)).toArray();
      Arrays.sort(multiples);
      int reached = 0;
      double[] xs = new double[2 * multiples.length + 2];
      double[] ys = new double[xs.length];
      int point = 1;
      for (double multiple : multiples) {
        if (multiple <= MOST_MULTIPLE) {
          xs[point] = axis.share(multiple);
          ys[point++] = (double) reached / multiples.length;
          xs[point] = axis.share(multiple);
          ys[point++] = (double) ++reached / multiples.length;
        }
      }
      xs[point] = 1;
      ys[point++] = (double) reached / multiples.length;
      svg.line(series, Arrays.copyOf(xs, point), Arrays.copyOf(ys, point));
    }
    return svg.end();
  }

  /** Hit rates against the size of the pools and the bound. */
  static String hitRate(List<ReplayResult> results) {
    return hitRate(results, false) + hitRate(results, true);
  }

  private static String hitRate(List<ReplayResult> results, boolean narrow) {
    ReplayResult first = results.get(0);
    double pools = (double) first.ranks().size() * first.settings().pool().tokens();
    ReuseCurve curve = first.reuse();
    List<ReuseCurve.Point> points = curve == null ? List.of() : curve.points();
    double least =
        points.isEmpty() ? pools / TEN : Math.min(pools, (double) points.get(0).tokens());
    double most =
        points.isEmpty() ? pools : Math.max(pools, (double) points.get(points.size() - 1).tokens());
    LogAxis axis = LogAxis.over(least, most);
    Svg svg = Svg.shaped(narrow, HEIGHT, "hit-rate", "Token hit rate by size of the pools");
    shares(svg);
    axis.addTo(svg);
    svg.axis("tokens that all pools hold");
    if (!points.isEmpty()) {
      svg.curve(
          points.stream().mapToDouble(point -> axis.share((double) point.tokens())).toArray(),
          points.stream().mapToDouble(ReuseCurve.Point::hitRate).toArray());
    }
    double bound = first.upperBoundTokenHitRate();
    if (Double.isFinite(bound)) {
      svg.bound(bound, "upper bound " + Numbers.rate(bound));
    }
    for (int series = 0; series < results.size(); series++) {
      double hitRate = results.get(series).tokenHitRate();
      if (Double.isFinite(hitRate)) {
        svg.ring(series, axis.share(pools), hitRate);
      }
    }
    return svg.end();
  }

  /** A row for each rank, a cell for each part of the time. */
  static String load(ReplayResult result, String name, String id, int ranks) {
    boolean few = ranks <= FEW_ROWS;
    int row = few ? HIGH_MAP_ROW : MAP_ROW;
    int height = ranks * row + MAP_BOTTOM;
    Svg svg = new Svg(height, id, "Busy share of each rank over time under " + name);
    double width = (double) (Svg.WIDTH - MAP_LEFT) / PARTS;
    for (int rank = 0; rank < ranks; rank++) {
      double top = (double) rank * row;
      double base = top + row - (few ? 7.0 : 3.0);
      if (few || rank % 2 == 0) {
        svg.text(MAP_LEFT - 6.0, base, "end", rankName(result, rank));
      } else {
        svg.wideText(MAP_LEFT - 6.0, base, "end", rankName(result, rank));
      }
      double[] shares = result.ranks().get(rank).load().shares(PARTS, result.virtualNs());
      for (int part = 0; part < PARTS; part++) {
        svg.cell(MAP_LEFT + part * width, top, width, row - 1.0, shares[part]);
      }
    }
    svg.text(MAP_LEFT, height - 22.0, "start", "0 s");
    svg.text(Svg.WIDTH, height - 22.0, "end", Numbers.measure(result.virtualSeconds()) + " s");
    return svg.end();
  }

  static String rankName(ReplayResult result, int rank) {
    int perWorker = result.settings().ranks();
    return result.fleet() == null
        ? Integer.toString(rank)
        : RankTable.worker(result, rank / perWorker) + "/" + rank % perWorker;
  }
}
