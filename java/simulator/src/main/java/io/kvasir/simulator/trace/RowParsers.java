package io.kvasir.simulator.trace;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the format of a trace by its first line.
 *
 * <p>Immutable.
 *
 * @param trace receives the rows
 * @param parser reads them
 * @param skipsFirst whether the first line is a header
 */
record RowParsers(TraceBuilder trace, RowParser parser, boolean skipsFirst) {

  /** The beginning of a line that {@code kvasir serve --record} wrote. */
  private static final Pattern RECORDED = Pattern.compile("^\\{\"timestamp\":\\d+,\"event\":\\{");

  /**
   * Recognises a format.
   *
   * @param line the place of the first line
   * @param text the first line that is not blank
   * @param reading how the file is read
   * @return its parser
   * @throws InvalidTraceException if the line begins no trace
   */
  static RowParsers of(TraceLine line, String text, TraceReading reading)
      throws InvalidTraceException {
    String first = text.strip();
    if (RECORDED.matcher(first).find()) {
      throw line.invalid("is a line of a recording; replay it with --recording");
    }
    TraceColumns columns = reading.columns();
    CsvHeader header =
        columns == null ? CsvHeader.recognised(first) : CsvHeader.of(line, first, columns);
    if (header != null) {
      return csv(line, header, reading);
    }
    if (first.startsWith("{")) {
      return json(line, text, reading);
    }
    if (first.startsWith("[")) {
      throw line.invalid("is a JSON array; each line must be a JSON object (Mooncake)");
    }
    throw line.invalid(
        "must be a JSON object (Mooncake), the header TIMESTAMP,ContextTokens,GeneratedTokens"
            + " (Azure) or that of BurstGPT; --trace-columns names the columns of other CSV");
  }

  private static RowParsers json(TraceLine line, String first, TraceReading reading) {
    boolean chats = ChatIds.areNamedIn(first);
    Integer blockTokens = reading.units().blockTokens();
    if (blockTokens == null) {
      blockTokens = chats ? TraceUnits.CHAT_BLOCK_TOKENS : TraceUnits.BLOCK_TOKENS;
    }
    TraceUnits.Time time = reading.units().time();
    boolean known = time != null || chats;
    if (time == null) {
      time = chats ? TraceUnits.Time.S : TraceUnits.Time.MS;
    }
    TraceBuilder trace = builder(line, Trace.Format.MOONCAKE, blockTokens, reading).timeUnit(time);
    if (chats) {
      trace.warn(
          "rows have chat_id and parent_chat_id, so timestamps are read as "
              + time.plural()
              + " (--trace-time-unit), and ids as "
              + blockTokens
              + " tokens (--trace-block-tokens)");
    }
    Timestamps times = Timestamps.inUnit(trace, known);
    @Nullable ChatIds conversations = chats ? new ChatIds() : null;
    return new RowParsers(trace, new MooncakeParser(trace, line, times, conversations), false);
  }

  private static RowParsers csv(TraceLine line, CsvHeader header, TraceReading reading) {
    Trace.Format format = header.isAzure() ? Trace.Format.AZURE : Trace.Format.CSV;
    TraceBuilder trace = builder(line, format, TraceUnits.BLOCK_TOKENS, reading);
    if (format == Trace.Format.CSV) {
      trace.columns(header.columns());
    }
    CsvParser parser = new CsvParser(trace, header, times(trace, header, reading));
    return new RowParsers(trace, parser, true);
  }

  private static Timestamps times(TraceBuilder trace, CsvHeader header, TraceReading reading) {
    TraceUnits.Time given = reading.units().time();
    if (header.isAzure()) {
      return Timestamps.times(trace);
    }
    if (given != null) {
      trace.timeUnit(given);
      return Timestamps.inUnit(trace, true);
    }
    if (reading.columns() == null) {
      trace.timeUnit(TraceUnits.Time.S);
      trace.warn(
          "its columns are BurstGPT's, so timestamps are read as seconds (--trace-time-unit)");
      return Timestamps.inUnit(trace, true);
    }
    trace.timeUnit(TraceUnits.Time.S);
    return Timestamps.ofAnyUnit(trace);
  }

  private static TraceBuilder builder(
      TraceLine line, Trace.Format format, int blockTokens, TraceReading reading) {
    TraceBuilder trace = new TraceBuilder(line.file(), format, blockTokens);
    return reading.sorted() ? trace.sorted() : trace;
  }
}
