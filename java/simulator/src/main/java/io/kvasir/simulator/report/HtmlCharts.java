package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReuseCurve;
import java.util.ArrayList;
import java.util.List;

/** The charts of the HTML report. */
final class HtmlCharts {

  private static final int HEIGHT = 300;
  private static final int LEVELS = 4;
  private static final int PARTS = 120;
  private static final int MAP_LEFT = 76;
  private static final int MAP_BOTTOM = 40;
  private static final int MAP_ROW = 18;
  private static final double TEN = 10;

  private HtmlCharts() {}

  /**
   * A logarithmic axis with a tick at each power of ten and, if it is short, at 2 and 5 between.
   */
  private record LogAxis(double first, double last, List<Double> ticks) {

    private static final int FEW_TICKS = 7;

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

    void addTo(Svg svg) {
      for (double tick : ticks) {
        svg.tick(tick == ticks.get(ticks.size() - 1) ? 1 : share(tick), shown(tick));
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
    double least = Double.MAX_VALUE;
    double most = 0;
    for (ReplayResult result : results) {
      for (double quantile : result.ttft().quantilesMs()) {
        least = Math.min(least, quantile);
        most = Math.max(most, quantile);
      }
    }
    LogAxis axis = LogAxis.over(Math.min(least, Math.max(most, 1)), most);
    Svg svg = new Svg(HEIGHT, "first-token", "Cumulative distribution of the time to first token");
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

  /** Hit rates against the size of the pools and the bound. */
  static String hitRate(List<ReplayResult> results) {
    ReplayResult first = results.get(0);
    double pools = (double) first.ranks().size() * first.settings().pool().tokens();
    ReuseCurve curve = first.reuse();
    List<ReuseCurve.Point> points = curve == null ? List.of() : curve.points();
    double least =
        points.isEmpty() ? pools / TEN : Math.min(pools, (double) points.get(0).tokens());
    double most =
        points.isEmpty() ? pools : Math.max(pools, (double) points.get(points.size() - 1).tokens());
    LogAxis axis = LogAxis.over(least, most);
    Svg svg = new Svg(HEIGHT, "hit-rate", "Token hit rate by size of the pools");
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
    int height = ranks * MAP_ROW + MAP_BOTTOM;
    Svg svg = new Svg(height, id, "Busy share of each rank over time under " + name);
    double width = (double) (Svg.WIDTH - MAP_LEFT) / PARTS;
    for (int rank = 0; rank < ranks; rank++) {
      double top = (double) rank * MAP_ROW;
      svg.text(MAP_LEFT - 6.0, top + MAP_ROW - 3.0, "end", rankName(result, rank));
      double[] shares = result.ranks().get(rank).load().shares(PARTS, result.virtualNs());
      for (int part = 0; part < PARTS; part++) {
        svg.cell(MAP_LEFT + part * width, top, width, MAP_ROW - 1.0, shares[part]);
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
        : "w" + rank / perWorker + "/" + rank % perWorker;
  }
}
