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

/**
 * Reads Azure's rows: {@code TIMESTAMP,ContextTokens,GeneratedTokens}, after a header with these
 * names. The trace has no information on shared prefixes, so its rows have no ids.
 *
 * <p>Not thread-safe.
 */
final class AzureParser implements RowParser {

  /** The header line, which is not parsed. */
  static final String HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";

  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendLiteral(' ')
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .optionalStart()
          .appendOffset("+HH:MM", "Z")
          .optionalEnd()
          .toFormatter(Locale.ROOT);

  private final Trace.Builder trace;

  AzureParser(Trace.Builder trace) {
    this.trace = trace;
  }

  @Override
  public void parse(TraceLine line, String text) throws InvalidTraceException {
    String[] fields = text.strip().split(",", -1);
    if (fields.length != 3) {
      throw line.invalid("expected the 3 fields " + HEADER + ", not " + fields.length);
    }
    long arrivalNs = timeNs(line, fields[0]);
    if (arrivalNs < 0) {
      throw line.invalid("TIMESTAMP must not be before 1970: " + fields[0]);
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
    Long length = Decimals.integer(text);
    if (length == null) {
      throw line.invalid(field + " must be an integer from " + minimum + " to " + Trace.MAX_TOKENS);
    }
    return line.inRange(field, length, minimum, Trace.MAX_TOKENS);
  }
}
