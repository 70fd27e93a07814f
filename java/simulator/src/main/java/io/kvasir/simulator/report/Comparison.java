package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * A table with a column per result. For two results it adds the second relative to the first, and
 * which way that is; for more it marks the best and the worst of a row. Differences of 1 % or less
 * count as equal.
 */
final class Comparison {

  /** Explains the marks of tables of more than two results. */
  static final String LEGEND = "+ best, - worst of its row by more than 1 %";

  private static final String UNMARKED = "  ";

  private final List<ReplayResult> results;
  private final TextTable table = new TextTable();

  /** Which of two values is better. */
  enum Better {
    HIGHER,
    LOWER;

    boolean isBetter(double value, double than) {
      return this == HIGHER ? value > than : value < than;
    }
  }

  Comparison(List<ReplayResult> results) {
    this.results = results;
  }

  Comparison row(String name, Function<ReplayResult, String> value) {
    List<String> values = results.stream().map(value).toList();
    addRow(name, marks() ? values.stream().map(text -> text + UNMARKED).toList() : values, "");
    return this;
  }

  Comparison figure(
      String name, int decimals, Better better, ToDoubleFunction<ReplayResult> value) {
    double[] values = results.stream().mapToDouble(value).toArray();
    String[] shown = new String[values.length];
    for (int i = 0; i < values.length; i++) {
      shown[i] = Numbers.decimals(values[i], decimals);
    }
    if (marks()) {
      for (int i = 0; i < values.length; i++) {
        shown[i] +=
            switch (mark(exact(values), i, decimals, better)) {
              case "best" -> " +";
              case "worst" -> " -";
              default -> UNMARKED;
            };
      }
    }
    addRow(name, List.of(shown), values.length == 2 ? factor(shown, values, better) : "");
    return this;
  }

  private boolean marks() {
    return results.size() > 2;
  }

  /**
   * {@code best} or {@code worst} if a value is that, and clearly: the next one looks different and
   * is beyond the {@link Noise}. Empty otherwise.
   */
  static String mark(List<Estimate> values, int index, int decimals, Better better) {
    Estimate own = values.get(index);
    boolean best = true;
    boolean worst = true;
    int others = 0;
    for (int i = 0; i < values.size(); i++) {
      Estimate other = values.get(i);
      if (i == index || Double.isNaN(other.mean())) {
        continue;
      }
      others++;
      boolean differs =
          !Noise.covers(own, other)
              && !Numbers.decimals(own.mean(), decimals)
                  .equals(Numbers.decimals(other.mean(), decimals));
      best &= differs && better.isBetter(own.mean(), other.mean());
      worst &= differs && better.isBetter(other.mean(), own.mean());
    }
    return others == 0 ? "" : best ? "best" : worst ? "worst" : "";
  }

  /** Values that have no intervals. */
  static List<Estimate> exact(double... values) {
    return Arrays.stream(values).mapToObj(value -> new Estimate(value, Double.NaN)).toList();
  }

  private static String factor(String[] shown, double[] values, Better better) {
    double ratio = values[1] / values[0];
    if (!Double.isFinite(ratio)) {
      return "";
    }
    String factor = "x " + Numbers.decimals(ratio, 2);
    if (shown[0].equals(shown[1]) || Noise.covers(values[0], values[1])) {
      return factor + "       ";
    }
    return factor + (better.isBetter(values[1], values[0]) ? " better" : " worse ");
  }

  private void addRow(String name, List<String> values, String last) {
    String[] cells = new String[values.size() + 2];
    cells[0] = name;
    for (int i = 0; i < values.size(); i++) {
      cells[i + 1] = values.get(i);
    }
    cells[cells.length - 1] = last;
    table.row(cells);
  }

  /** Says what the marks mean, and which results are best in a figure. */
  String legend(
      Function<ReplayResult, String> name,
      String figure,
      int decimals,
      ToDoubleFunction<ReplayResult> value) {
    List<ReplayResult> lowest = lowest(results, decimals, value);
    String marks =
        marks()
            ? LEGEND
            : "x: " + name.apply(results.get(1)) + " relative to " + name.apply(results.get(0));
    return marks
        + "; lowest "
        + figure
        + ": "
        + (lowest.size() == results.size()
            ? "all alike"
            : lowest.stream().map(name).collect(Collectors.joining(", ")));
  }

  /** The results whose figure is the lowest, or looks like it, or is within the {@link Noise}. */
  static List<ReplayResult> lowest(
      List<ReplayResult> results, int decimals, ToDoubleFunction<ReplayResult> value) {
    double lowest = results.stream().mapToDouble(value).min().orElse(Double.NaN);
    String shown = Numbers.decimals(lowest, decimals);
    return results.stream()
        .filter(
            each ->
                Noise.covers(value.applyAsDouble(each), lowest)
                    || Numbers.decimals(value.applyAsDouble(each), decimals).equals(shown))
        .toList();
  }

  TextTable table() {
    return table;
  }
}
