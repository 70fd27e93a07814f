package io.kvasir.simulator.report;

import java.util.ArrayList;
import java.util.List;

/** Aligns cells in columns: the first to the left, the others to the right. Not thread-safe. */
public final class TextTable {

  private static final String INDENT = "  ";
  private static final String GAP = "  ";

  private final List<String[]> rows = new ArrayList<>();

  /** Makes an empty table. */
  public TextTable() {}

  /**
   * Adds a row.
   *
   * @param cells one for each column
   * @return this table
   */
  public TextTable row(String... cells) {
    rows.add(cells);
    return this;
  }

  /**
   * Writes the rows, each on its own line without trailing blanks.
   *
   * @param out receives the lines
   */
  public void appendTo(StringBuilder out) {
    int columns = rows.stream().mapToInt(row -> row.length).max().orElse(0);
    int[] widths = new int[columns];
    for (String[] row : rows) {
      for (int column = 0; column < row.length; column++) {
        widths[column] = Math.max(widths[column], row[column].length());
      }
    }
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder(INDENT);
      for (int column = 0; column < row.length; column++) {
        String padding = " ".repeat(widths[column] - row[column].length());
        line.append(column == 0 ? row[column] + padding : GAP + padding + row[column]);
      }
      out.append(line.toString().stripTrailing()).append('\n');
    }
  }
}
