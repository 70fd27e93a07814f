package io.kvasir.simulator.trace;

/** Reads the lines of one format into a trace. Not thread-safe. */
interface RowParser {

  /**
   * Reads one line that is not blank.
   *
   * @param line where it stands
   * @param text the line without its end
   * @throws InvalidTraceException naming the field that is wrong and what is allowed
   */
  void parse(TraceLine line, String text) throws InvalidTraceException;

  /** Called after the last line: the place for warnings about the whole file. */
  void finish();
}
