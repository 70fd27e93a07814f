package io.kvasir.simulator.trace;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The header of a CSV trace. Spaces, quotes and case in the names of columns do not matter.
 *
 * <p>Immutable.
 *
 * @param names the names of all columns, in order
 * @param separator what stands between them
 * @param columns the columns that make the trace
 */
record CsvHeader(List<String> names, char separator, TraceColumns columns) {

  private static final char[] SEPARATORS = {',', ';', '\t'};

  /**
   * Recognises the header of Azure's and BurstGPT's traces.
   *
   * @param text the line
   * @return the header; null if it is another line
   */
  static @Nullable CsvHeader recognised(String text) {
    List<String> names = CsvLine.fields(text, ',');
    if (names == null) {
      return null;
    }
    CsvHeader azure = new CsvHeader(names, ',', TraceColumns.AZURE);
    if (names.size() == 3
        && azure.index(TraceColumns.AZURE.timestamp()) == 0
        && azure.index(TraceColumns.AZURE.input()) == 1
        && azure.index(TraceColumns.AZURE.output()) == 2) {
      return azure;
    }
    CsvHeader burst = new CsvHeader(names, ',', TraceColumns.BURST_GPT);
    if (!burst.hasAll()) {
      return null;
    }
    return burst.index(TraceColumns.BURST_GPT_SESSION) < 0
        ? burst
        : new CsvHeader(
            names, ',', TraceColumns.BURST_GPT.withSession(TraceColumns.BURST_GPT_SESSION));
  }

  /**
   * Finds columns in a header.
   *
   * @param line its place
   * @param text the line
   * @param columns the columns
   * @return the header
   * @throws InvalidTraceException if it lacks a column, or has one twice
   */
  static CsvHeader of(TraceLine line, String text, TraceColumns columns)
      throws InvalidTraceException {
    if (text.startsWith("{")) {
      throw line.invalid("must be the header of CSV with --trace-columns, not a JSON object");
    }
    CsvHeader header = null;
    for (char separator : SEPARATORS) {
      List<String> names = CsvLine.fields(text, separator);
      if (names != null && (header == null || names.size() > header.names.size())) {
        header = new CsvHeader(names, separator, columns);
      }
    }
    if (header == null) {
      throw line.invalid("a field in quotes does not end on this line");
    }
    header.require(line, "timestamp", columns.timestamp());
    header.require(line, "input", columns.input());
    header.require(line, "output", columns.output());
    if (columns.session() != null) {
      header.require(line, "session", columns.session());
    }
    return header;
  }

  /** {@return whether this is the header of Azure's traces} */
  boolean isAzure() {
    return columns.equals(TraceColumns.AZURE) && names.size() == 3;
  }

  /**
   * The place of a column.
   *
   * @param column its name
   * @return from 0; -1 if there is none
   */
  int index(String column) {
    for (int index = 0; index < names.size(); index++) {
      if (plain(names.get(index)).equals(plain(column))) {
        return index;
      }
    }
    return -1;
  }

  private boolean hasAll() {
    return index(columns.timestamp()) >= 0
        && index(columns.input()) >= 0
        && index(columns.output()) >= 0;
  }

  private void require(TraceLine line, String key, String column) throws InvalidTraceException {
    long found = names.stream().filter(name -> plain(name).equals(plain(column))).count();
    if (found != 1) {
      throw line.invalid(
          (found == 0 ? "has no column " : "has more than one column ")
              + Errors.shown(column)
              + " for "
              + key
              + " of --trace-columns; its columns are "
              + Errors.shown(String.join(", ", names)));
    }
  }

  private static String plain(String name) {
    return name.replace(" ", "").toLowerCase(Locale.ROOT);
  }
}
