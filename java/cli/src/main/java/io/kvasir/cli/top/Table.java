package io.kvasir.cli.top;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Lines of cells below their titles; a narrow screen has fewer columns. Stateless. */
final class Table {

  private static final int LEAST_WIDTH = 12;
  private static final String GAP = "..";

  private Table() {}

  /**
   * A column.
   *
   * @param title its title
   * @param width its width; 0 for the one that takes what the others leave
   * @param right whether its cells end at the same place
   * @param drop the column with the highest number is left out first; those with 0 stay
   */
  record Column(String title, int width, boolean right, int drop) {}

  /** Titles and rows, each with a cell for each column, as lines that are not wider than wanted. */
  static List<String> lines(List<Column> columns, List<List<String>> rows, int width) {
    List<Column> kept = new ArrayList<>(columns);
    while (rest(kept, width) < LEAST_WIDTH && kept.stream().anyMatch(each -> each.drop() > 0)) {
      kept.remove(kept.stream().max(Comparator.comparingInt(Column::drop)).orElseThrow());
    }
    List<List<String>> all = new ArrayList<>();
    all.add(columns.stream().map(Column::title).toList());
    all.addAll(rows);
    List<String> lines = new ArrayList<>();
    for (List<String> row : all) {
      StringBuilder line = new StringBuilder();
      for (Column column : kept) {
        int index = columns.indexOf(column);
        int size = column.width();
        if (size == 0) {
          int longest = all.stream().mapToInt(each -> each.get(index).length()).max().orElse(0);
          size = Math.max(1, Math.min(rest(kept, width), longest));
        }
        String cell = cut(row.get(index), size);
        String blanks = " ".repeat(size - cell.length());
        line.append(column.right() ? blanks + cell : cell + blanks).append(' ');
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  /** What is left for the column without a width. */
  private static int rest(List<Column> columns, int width) {
    return width - columns.stream().mapToInt(each -> each.width() + 1).sum() + 1;
  }

  /** Cuts a text in its middle, because names often differ at their ends. */
  static String cut(String text, int width) {
    if (text.length() <= width) {
      return text;
    }
    int kept = width - GAP.length();
    if (kept < 2) {
      return text.substring(0, width);
    }
    int head = kept / 3;
    return text.substring(0, head) + GAP + text.substring(text.length() - kept + head);
  }
}
