package io.kvasir.simulator.trace;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads Azure's rows: {@code TIMESTAMP,ContextTokens,GeneratedTokens}, after a header with these
 * names. Fields may be in quotes, times in the form of ISO 8601, and lengths may end in {@code .0}.
 * The trace has no information on shared prefixes, so its rows have no ids.
 *
 * <p>Not thread-safe.
 */
final class AzureParser implements RowParser {

  /** The header line, which is not parsed. */
  static final String HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";

  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .parseCaseInsensitive()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendPattern("[' ']['T']")
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .appendPattern("[XXX][XX][X]")
          .toFormatter(Locale.ROOT);

  /** Above it, neighbouring integers are the same floating-point number. */
  private static final double MAX_EXACT = 1L << 53;

  private final Trace.Builder trace;

  AzureParser(Trace.Builder trace) {
    this.trace = trace;
  }

  @Override
  public void parse(TraceLine line, String text) throws InvalidTraceException {
    String[] fields = text.strip().split(",", -1);
    for (int field = 0; field < fields.length; field++) {
      fields[field] = unquoted(fields[field].strip());
    }
    if (fields.length != 3) {
      throw line.invalid("expected the 3 fields " + HEADER + ", not " + fields.length);
    }
    long arrivalNs = timeNs(line, fields[0]);
    if (arrivalNs < 0) {
      throw line.invalid("TIMESTAMP must not be before 1970: " + Errors.shown(fields[0]));
    }
    if (arrivalNs < trace.lastArrivalNs()) {
      throw line.invalid("TIMESTAMP must not go back: " + Errors.shown(fields[0]));
    }
    trace.addRow(
        arrivalNs,
        length(line, "ContextTokens", fields[1], 1),
        length(line, "GeneratedTokens", fields[2], 0));
  }

  @Override
  public void finish() {
    // There are no warnings for rows without ids.
  }

  /**
   * A header without what is insignificant in it.
   *
   * @param header the line
   * @return the names of its columns, separated by commas
   */
  static String plain(String header) {
    return header.replace(" ", "").replace("\"", "");
  }

  private static String unquoted(String field) {
    boolean quoted = field.length() >= 2 && field.startsWith("\"") && field.endsWith("\"");
    return quoted ? field.substring(1, field.length() - 1).strip() : field;
  }

  private static long timeNs(TraceLine line, String text) throws InvalidTraceException {
    try {
      TemporalAccessor time = TIME.parse(text.strip());
      ZoneOffset offset =
          time.isSupported(ChronoField.OFFSET_SECONDS) ? ZoneOffset.from(time) : ZoneOffset.UTC;
      return ChronoUnit.NANOS.between(Instant.EPOCH, LocalDateTime.from(time).toInstant(offset));
    } catch (DateTimeException | ArithmeticException e) {
      throw line.invalid("TIMESTAMP must be a time like 2023-11-16 18:15:46.6805900", e);
    }
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
