package io.kvasir.simulator.trace;

/**
 * A line of a trace file, for messages.
 *
 * <p>Immutable.
 *
 * @param file the file as the user named it
 * @param number the line, from 1
 */
record TraceLine(String file, long number) {

  /**
   * An error in this line.
   *
   * @param problem the field and the allowed values
   * @return the exception to throw
   */
  InvalidTraceException invalid(String problem) {
    return new InvalidTraceException(file + ":" + number + ": " + problem);
  }

  /**
   * An error in this line, with a cause.
   *
   * @param problem the field and the allowed values
   * @param cause the underlying exception
   * @return the exception to throw
   */
  InvalidTraceException invalid(String problem, Throwable cause) {
    return new InvalidTraceException(file + ":" + number + ": " + problem, cause);
  }

  /**
   * Checks that an integer lies in a range.
   *
   * @param field its name in the file
   * @param value its value
   * @param minimum smallest allowed value
   * @param maximum largest allowed value
   * @return the value
   * @throws InvalidTraceException if it lies outside
   */
  int inRange(String field, long value, int minimum, int maximum) throws InvalidTraceException {
    if (value < minimum || value > maximum) {
      throw invalid(
          field + " must be an integer from " + minimum + " to " + maximum + ", not " + value);
    }
    return (int) value;
  }
}
