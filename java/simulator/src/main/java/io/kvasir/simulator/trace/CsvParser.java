package io.kvasir.simulator.trace;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of CSV traces: Azure's, BurstGPT's, and others whose columns the user names.
 * Fields may be in quotes, and lengths may end in {@code .0}. The trace has no information on
 * shared prefixes, so its rows have no ids; they may name their conversations.
 *
 * <p>Not thread-safe.
 */
final class CsvParser implements RowParser {

  /** Above it, neighbouring integers are the same floating-point number. */
  private static final double MAX_EXACT = 1L << 53;

  private static final int MAX_SESSION_CHARACTERS = 256;

  private final TraceBuilder trace;
  private final CsvHeader header;
  private final Timestamps times;
  private final int timestamp;
  private final int input;
  private final int output;
  private final int session;

  /**
   * Begins a file.
   *
   * @param trace receives the rows
   * @param header its first line
   * @param times reads its timestamps
   */
  CsvParser(TraceBuilder trace, CsvHeader header, Timestamps times) {
    this.trace = trace;
    this.header = header;
    this.times = times;
    this.timestamp = header.index(header.columns().timestamp());
    this.input = header.index(header.columns().input());
    this.output = header.index(header.columns().output());
    String conversations = header.columns().session();
    this.session = conversations == null ? -1 : header.index(conversations);
  }

  @Override
  public void parse(TraceLine line, String text) throws InvalidTraceException {
    List<String> fields = CsvLine.fields(text, header.separator());
    if (fields == null) {
      throw line.invalid("a field in quotes does not end on this line");
    }
    List<String> names = header.names();
    if (fields.size() != names.size()) {
      throw line.invalid(
          "expected the "
              + names.size()
              + " fields "
              + Errors.shown(String.join(",", names))
              + ", not "
              + fields.size());
    }
    trace.addRow(
        times.ns(line, names.get(timestamp), fields.get(timestamp)),
        length(line, names.get(input), fields.get(input), 1),
        length(line, names.get(output), fields.get(output), 0),
        session < 0 ? null : conversation(line, fields.get(session)));
  }

  @Override
  public void finish() {
    times.finish();
  }

  private @Nullable String conversation(TraceLine line, String text) throws InvalidTraceException {
    if (text.length() > MAX_SESSION_CHARACTERS) {
      throw line.invalid(
          header.names().get(session)
              + " must be a text of at most "
              + MAX_SESSION_CHARACTERS
              + " characters");
    }
    return text.isEmpty() || text.equalsIgnoreCase("NaN") ? null : text;
  }

  private static int length(TraceLine line, String field, String text, int minimum)
      throws InvalidTraceException {
    Long length = integer(text);
    if (length == null) {
      throw line.invalid(field + " must be an integer from " + minimum + " to " + Trace.MAX_TOKENS);
    }
    return line.inRange(field, length, minimum, Trace.MAX_TOKENS);
  }

  private static @Nullable Long integer(String text) {
    Double number = Decimals.number(text);
    if (number == null || Decimals.integer(text) != null) {
      return Decimals.integer(text);
    }
    return number == Math.rint(number) && Math.abs(number) <= MAX_EXACT ? number.longValue() : null;
  }
}
