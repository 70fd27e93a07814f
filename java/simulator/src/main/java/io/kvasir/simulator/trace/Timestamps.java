package io.kvasir.simulator.trace;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the timestamps of one file: numbers of one unit, or times in the form of ISO 8601, in UTC
 * unless they have an offset. The first row decides which of them the file has. Warns where numbers
 * look like those of another unit.
 *
 * <p>Not thread-safe.
 */
final class Timestamps {

  /** Arrivals that are closer on average, over several rows, are probably not in milliseconds. */
  private static final long LEAST_GAP_NS = 10_000_000;

  /** Arrivals that are further apart on average, over several rows, are probably not in seconds. */
  private static final long MOST_GAP_NS = 60_000_000_000L;

  private static final long FEW_ROWS = 10;
  private static final double NS_PER_MS = 1e6;
  private static final double NS_PER_S = 1e9;

  /** The least number since 1970 that is more likely one of the next smaller unit. */
  private static final double MOST_SECONDS = 1e11;

  private static final double MOST_MILLISECONDS = 1e14;
  private static final double MOST_MICROSECONDS = 1e17;

  private static final Pattern TIME =
      Pattern.compile(
          "(\\d{4}-\\d\\d-\\d\\d)[ Tt](\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?)"
              + "(?: ?(Z|z|UTC|[+-]\\d\\d(?::?\\d\\d)?))?");

  private static final String EXAMPLE = "a time like 2023-11-16 18:15:46.6805900";

  private enum Kind {
    NUMBER,
    TIME
  }

  private final TraceBuilder trace;
  private final boolean unitIsKnown;
  private final boolean unitIsFound;
  private @Nullable Kind kind;

  private Timestamps(
      TraceBuilder trace, boolean unitIsKnown, boolean unitIsFound, @Nullable Kind kind) {
    this.trace = trace;
    this.unitIsKnown = unitIsKnown;
    this.unitIsFound = unitIsFound;
    this.kind = kind;
  }

  /**
   * Timestamps that are times.
   *
   * @param trace receives the rows
   */
  static Timestamps times(TraceBuilder trace) {
    return new Timestamps(trace, true, false, Kind.TIME);
  }

  /**
   * Timestamps in the unit of the trace, or times.
   *
   * @param trace receives the rows and warnings
   * @param known whether the unit needs no check
   */
  static Timestamps inUnit(TraceBuilder trace, boolean known) {
    return new Timestamps(trace, known, false, null);
  }

  /**
   * Timestamps of a unit that the size of the first one shows, or times. Small ones are seconds.
   *
   * @param trace receives the unit, the rows and warnings
   */
  static Timestamps ofAnyUnit(TraceBuilder trace) {
    return new Timestamps(trace, false, true, null);
  }

  /**
   * Reads a timestamp.
   *
   * @param line its line
   * @param field its field
   * @param text its text: a number, or a time
   * @return nanoseconds, in the file's own time
   * @throws InvalidTraceException if it is neither, or is before the row above
   */
  long ns(TraceLine line, String field, String text) throws InvalidTraceException {
    Double number = kind == Kind.TIME ? null : Decimals.number(text);
    return number == null ? timeNs(line, field, text) : numberNs(line, field, text, number);
  }

  /**
   * Reads a number.
   *
   * @param line its line
   * @param field its field
   * @param text its text
   * @param number the number
   * @return nanoseconds, in the file's own time
   * @throws InvalidTraceException if it is out of range, or is before the row above
   */
  long numberNs(TraceLine line, String field, String text, double number)
      throws InvalidTraceException {
    if (kind == Kind.TIME) {
      throw line.invalid(field + " must be " + EXAMPLE + ", as in the rows above");
    }
    if (kind == null && unitIsFound) {
      findUnit(number);
    }
    kind = Kind.NUMBER;
    TraceUnits.Time unit = trace.timeUnit();
    if (!(number >= 0 && number <= unit.max())) {
      throw line.invalid(
          field
              + " must be 0 to "
              + unit.max()
              + " "
              + unit.plural()
              + ", not "
              + Errors.shown(text)
              + (number > unit.max() && number <= TraceUnits.Time.NS.max()
                  ? "; --trace-time-unit us or ns reads smaller units"
                  : ""));
    }
    Long integer = Decimals.integer(text);
    long ns = integer == null ? Math.round(number * unit.ns()) : integer * unit.ns();
    return inOrder(line, field, text + " after " + trace.lastArrivalNs() / (double) unit.ns(), ns);
  }

  /**
   * Reads a time.
   *
   * @param line its line
   * @param field its field
   * @param text its text
   * @return nanoseconds since 1970
   * @throws InvalidTraceException if it is no time, or is before 1970 or the row above
   */
  long timeNs(TraceLine line, String field, String text) throws InvalidTraceException {
    Matcher parts = TIME.matcher(text.strip());
    if (kind == Kind.NUMBER || !parts.matches()) {
      throw wrong(line, field);
    }
    long ns;
    try {
      LocalDateTime time = LocalDateTime.parse(parts.group(1) + "T" + parts.group(2));
      ns = ChronoUnit.NANOS.between(Instant.EPOCH, time.toInstant(offset(parts.group(3))));
    } catch (DateTimeException | ArithmeticException e) {
      throw line.invalid(field + " must be " + allowed(), e);
    }
    if (ns < 0) {
      throw line.invalid(field + " must not be before 1970: " + Errors.shown(text));
    }
    kind = Kind.TIME;
    return inOrder(line, field, text, ns);
  }

  /**
   * An error about a value that is neither a number nor a text.
   *
   * @param line its line
   * @param field its field
   * @return the exception to throw
   */
  InvalidTraceException wrong(TraceLine line, String field) {
    return line.invalid(field + " must be " + allowed());
  }

  /** Adds warnings about the whole file. */
  void finish() {
    if (kind != Kind.NUMBER) {
      return;
    }
    TraceUnits.Time unit = trace.timeUnit();
    if (unitIsFound) {
      trace.warn("timestamps are read as " + unit.plural() + " (--trace-time-unit)");
    }
    long span = trace.lastArrivalNs() - trace.firstArrivalNs();
    long gaps = trace.rows() - 1L;
    if (unitIsKnown || trace.rows() < FEW_ROWS) {
      return;
    }
    if (unit == TraceUnits.Time.MS && span > 0 && span < gaps * LEAST_GAP_NS) {
      warn("seconds", span / NS_PER_MS + " ms", "s reads seconds, and ms confirms milliseconds");
    }
    if (unit == TraceUnits.Time.S && span / gaps > MOST_GAP_NS) {
      warn("milliseconds", span / NS_PER_S + " s", "ms reads milliseconds, and s confirms seconds");
    }
  }

  private void warn(String unit, String span, String remedy) {
    trace.warn(
        "arrivals look like "
            + unit
            + ": "
            + trace.rows()
            + " requests in "
            + span
            + "; --trace-time-unit "
            + remedy);
  }

  private void findUnit(double number) {
    trace.timeUnit(
        number < MOST_SECONDS
            ? TraceUnits.Time.S
            : number < MOST_MILLISECONDS
                ? TraceUnits.Time.MS
                : number < MOST_MICROSECONDS ? TraceUnits.Time.US : TraceUnits.Time.NS);
  }

  private String allowed() {
    if (kind == Kind.TIME) {
      return EXAMPLE;
    }
    String number = "a number of " + trace.timeUnit().plural();
    return kind == Kind.NUMBER ? number : number + ", or " + EXAMPLE;
  }

  private long inOrder(TraceLine line, String field, String shown, long ns)
      throws InvalidTraceException {
    if (trace.goesBack(ns)) {
      throw line.invalid(
          field + " must not go back: " + Errors.shown(shown) + "; --trace-sort sorts the rows");
    }
    return ns;
  }

  private static ZoneOffset offset(@Nullable String text) {
    return text == null || text.equals("UTC")
        ? ZoneOffset.UTC
        : ZoneOffset.of(text.toUpperCase(Locale.ROOT));
  }
}
