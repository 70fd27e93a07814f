package io.kvasir.simulator.trace;

/** Reads the lines of one format into a trace. Not thread-safe. */
interface RowParser {

  /**
   * Reads one line that is not blank.
   *
   * @param line its position
   * @param text the line without its end
   * @throws InvalidTraceException naming the invalid field and the allowed values
   */
  void parse(TraceLine line, String text) throws InvalidTraceException;

  /** Called after the last line, to add what the whole file shows. */
  void finish();
}
