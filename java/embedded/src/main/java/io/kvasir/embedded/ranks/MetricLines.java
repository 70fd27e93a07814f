package io.kvasir.embedded.ranks;

import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** Writes metrics of ranks as Prometheus text. Not thread-safe. */
final class MetricLines {

  private final String prefix;
  private final String rankLabel;
  private final String model;
  private final int ranks;
  private final IntPredicate retired;
  private final StringBuilder out = new StringBuilder();

  /**
   * Creates it.
   *
   * @param prefix what names of metrics begin with
   * @param rankLabel the label that has the rank
   * @param retired whether a rank is left out, except for counters
   */
  MetricLines(String prefix, String rankLabel, EmbeddedSettings settings, IntPredicate retired) {
    this.prefix = prefix;
    this.rankLabel = rankLabel;
    this.model = settings.model().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    this.ranks = settings.ranks();
    this.retired = retired;
  }

  void gauge(String name, String help, IntFunction<Number> value) {
    head(name, "gauge", help);
    for (int rank = 0; rank < ranks; rank++) {
      if (!retired.test(rank)) {
        line(name, rank, "", value.apply(rank));
      }
    }
  }

  void counter(String name, String help, IntFunction<Number> value) {
    String full = name + "_total";
    head(full, "counter", help);
    for (int rank = 0; rank < ranks; rank++) {
      line(full, rank, "", value.apply(rank));
    }
  }

  /** A gauge of value 1 whose labels are facts: {@code ,name="value"} each. */
  void info(String name, String help, String labels) {
    head(name, "gauge", help);
    for (int rank = 0; rank < ranks; rank++) {
      line(name, rank, labels, 1);
    }
  }

  /** A gauge of the engine as a whole. */
  void total(String name, String help, Number value) {
    head(name, "gauge", help);
    out.append(prefix).append(name).append("{model_name=\"").append(model).append("\"} ");
    out.append(value).append('\n');
  }

  private void head(String name, String type, String help) {
    out.append("# HELP ").append(prefix).append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(prefix).append(name).append(' ').append(type).append('\n');
  }

  private void line(String name, int rank, String more, Number value) {
    out.append(prefix).append(name).append('{').append(rankLabel).append("=\"").append(rank);
    out.append("\",model_name=\"").append(model).append('"').append(more).append("} ");
    out.append(value).append('\n');
  }

  /** The text of all metrics so far. */
  String text() {
    return out.toString();
  }
}
