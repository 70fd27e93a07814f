package io.kvasir.simulator.report;

import java.util.Locale;

/**
 * A chart under construction: an inline SVG of fixed coordinates that scales with its page. Colours
 * come from the page's classes {@code s0} to {@code s7}. A chart may come in two shapes; the page
 * shows the one that fits the screen.
 *
 * <p>Not thread-safe.
 */
final class Svg {

  static final int WIDTH = 720;
  static final int SERIES = 8;

  private static final int NARROW_WIDTH = 400;
  private static final int LEFT = 76;
  private static final int RIGHT = 24;
  private static final int TOP = 14;
  private static final int BOTTOM = 60;

  /** The longest label, in characters, that may be centred on the edge of the plot. */
  private static final int MOST_CENTRED = 5;

  private final int width;
  private final int height;
  private final StringBuilder out = new StringBuilder();

  /**
   * Begins a chart.
   *
   * @param height its height; its width is {@link #WIDTH}
   * @param id unique on the page
   * @param title what it shows
   */
  Svg(int height, String id, String title) {
    this(WIDTH, height, "", id, title);
  }

  private Svg(int width, int height, String attributes, String id, String title) {
    this.width = width;
    this.height = height;
    add(
        "<svg%s viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s\"><title id=\"%s\">%s</title>",
        attributes, width, height, id, id, Html.escape(title));
  }

  /** Begins a chart that the page shows on wide or on narrow screens only. */
  static Svg shaped(boolean narrow, int height, String id, String title) {
    return narrow
        ? new Svg(NARROW_WIDTH, height, " class=\"narrow\"", id + "-narrow", title)
        : new Svg(WIDTH, height, " class=\"wide\"", id, title);
  }

  boolean isNarrow() {
    return width == NARROW_WIDTH;
  }

  /** Horizontal coordinate of a share of the plot, 0 for its left side. */
  double x(double share) {
    return LEFT + share * (width - LEFT - RIGHT);
  }

  /** Vertical coordinate of a share of the plot, 0 for its lower side. */
  double y(double share) {
    return height - BOTTOM - share * (height - TOP - BOTTOM);
  }

  /** A grid line across the plot and its label at the left. */
  Svg level(double share, String label) {
    add(
        "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
        x(0), y(share), x(1), y(share));
    return text(x(0) - 6, y(share) + 4, "end", label);
  }

  /** A grid line up the plot, and its label below unless that is empty. */
  Svg tick(double share, String label) {
    add(
        "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
        x(share), y(0), x(share), y(1));
    if (share == 1 && label.length() > MOST_CENTRED) {
      return text(width, y(0) + 22, "end", label); // stays within the chart
    }
    return text(x(share), y(0) + 22, "middle", label);
  }

  /** The name of the horizontal axis. */
  Svg axis(String name) {
    return text(x(0.5), height - 10.0, "middle", name);
  }

  Svg text(double x, double y, String anchor, String text) {
    return text("", x, y, anchor, text);
  }

  /** A text that narrow screens have no room for. */
  Svg wideText(double x, double y, String anchor, String text) {
    return text(" class=\"wide\"", x, y, anchor, text);
  }

  private Svg text(String attributes, double x, double y, String anchor, String text) {
    add(
        "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
        attributes, x, y, anchor, Html.escape(text));
    return this;
  }

  /** A line through points, each given by its shares of the plot. */
  Svg line(int series, double[] xs, double[] ys) {
    out.append("<path class=\"s").append(series % SERIES).append("\" d=\"");
    points(xs, ys);
    out.append("\"/>");
    return this;
  }

  /** A line that belongs to no series. */
  Svg curve(double[] xs, double[] ys) {
    out.append("<path class=\"curve\" d=\"");
    points(xs, ys);
    out.append("\"/>");
    return this;
  }

  /** A level with a label inside the plot. */
  Svg bound(double share, String label) {
    add(
        "<line class=\"bound\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
        x(0), y(share), x(1), y(share));
    return text(x(0) + 6, y(share) - 5, "start", label);
  }

  private void points(double[] xs, double[] ys) {
    for (int i = 0; i < xs.length; i++) {
      add("%s%.1f %.1f", i == 0 ? "M" : "L", x(xs[i]), y(ys[i]));
    }
  }

  /** A ring, larger for each series, so that rings at the same place are all seen. */
  Svg ring(int series, double share, double level) {
    add(
        "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>",
        series % SERIES, x(share), y(level), 4 + 3 * (series % SERIES));
    return this;
  }

  /** A legend's sample of a series' line. */
  static String lineSample(int series) {
    return "<svg class=\"sample\" viewBox=\"0 0 36 12\" aria-hidden=\"true\"><path class=\"s"
        + series % SERIES
        + "\" d=\"M0 6L36 6\"/></svg>";
  }

  /** A legend's sample of a series' ring. */
  static String ringSample(int series) {
    return "<svg class=\"sample\" viewBox=\"0 0 36 12\" aria-hidden=\"true\"><circle class=\"s"
        + series % SERIES
        + "\" cx=\"18\" cy=\"6\" r=\"4\"/></svg>";
  }

  /** A cell of a map, stronger for a larger share. Coordinates are those of the chart. */
  Svg cell(double x, double y, double width, double cellHeight, double share) {
    if (share > 0) {
      add(
          "<rect class=\"busy\" x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\""
              + " fill-opacity=\"%.2f\"/>",
          x, y, width, cellHeight, Math.min(1, share));
    }
    return this;
  }

  /** The finished element. */
  String end() {
    return out + "</svg>\n";
  }

  private void add(String format, Object... values) {
    out.append(String.format(Locale.ROOT, format, values));
  }
}
