package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** A table with a column per result; for two results it adds their ratio. */
final class Comparison {

  private final List<ReplayResult> results;
  private final TextTable table = new TextTable();

  Comparison(List<ReplayResult> results) {
    this.results = results;
  }

  Comparison row(String name, Function<ReplayResult, String> value) {
    addRow(name, value, "");
    return this;
  }

  Comparison figure(String name, int decimals, ToDoubleFunction<ReplayResult> value) {
    String factor = "";
    if (results.size() == 2) {
      double ratio = value.applyAsDouble(results.get(1)) / value.applyAsDouble(results.get(0));
      factor = Double.isFinite(ratio) ? "x " + Numbers.decimals(ratio, 2) : "";
    }
    addRow(name, result -> Numbers.decimals(value.applyAsDouble(result), decimals), factor);
    return this;
  }

  private void addRow(String name, Function<ReplayResult, String> value, String last) {
    String[] cells = new String[results.size() + 2];
    cells[0] = name;
    for (int i = 0; i < results.size(); i++) {
      cells[i + 1] = value.apply(results.get(i));
    }
    cells[cells.length - 1] = last;
    table.row(cells);
  }

  TextTable table() {
    return table;
  }
}
