package io.kvasir.simulator.trace;

import io.kvasir.model.Errors;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Reads trace files: Mooncake's JSON lines and Azure's CSV, plain or compressed. Thread-safe. */
public final class TraceReader {

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /** The beginning of a line that {@code kvasir serve --record} wrote. */
  private static final Pattern RECORDED = Pattern.compile("^\\{\"timestamp\":\\d+,\"event\":\\{");

  private TraceReader() {}

  /**
   * Reads and validates a whole file, as a stream. O(bytes).
   *
   * @param file the file; gzip, xz and zstd are recognised by their first bytes
   * @param units the units of JSON lines
   * @return the rows
   * @throws InvalidTraceException if the file is missing, empty or truncated, or a line is invalid
   * @throws IOException if a plain file cannot be read to its end
   */
  public static Trace read(Path file, TraceUnits units) throws IOException {
    if (Files.isDirectory(file)) {
      throw new InvalidTraceException(Errors.shown(file) + ": is a directory, not a trace");
    }
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(Compression.open(file), StandardCharsets.UTF_8))) {
      return readLines(file.toString(), lines, units);
    } catch (NoSuchFileException | FileNotFoundException e) {
      throw new InvalidTraceException(Errors.shown(file) + ": no such file", e);
    } catch (AccessDeniedException e) {
      throw new InvalidTraceException(Errors.shown(file) + ": may not be read", e);
    }
  }

  private static Trace readLines(String file, BufferedReader lines, TraceUnits units)
      throws IOException {
    long number = 1;
    String text = nextLine(file, lines, number);
    if (text != null && text.startsWith(BYTE_ORDER_MARK)) {
      text = text.substring(BYTE_ORDER_MARK.length());
    }
    while (text != null && text.isBlank()) {
      text = nextLine(file, lines, ++number);
    }
    if (text == null) {
      throw new InvalidTraceException(file + ": is empty");
    }
    TraceLine first = new TraceLine(file, number);
    Trace.Format format = formatOf(first, text);
    boolean chats = format == Trace.Format.MOONCAKE && ChatIds.areNamedIn(text);
    Trace.Builder trace = builder(file, format, units, chats);
    RowParser parser =
        format == Trace.Format.AZURE
            ? new AzureParser(trace)
            : new MooncakeParser(trace, first, units.time(), chats ? new ChatIds() : null);
    if (format == Trace.Format.AZURE) {
      text = nextLine(file, lines, ++number); // skips the header
    }
    while (text != null) {
      if (!text.isBlank()) {
        parser.parse(new TraceLine(file, number), text);
      }
      text = nextLine(file, lines, ++number);
    }
    if (trace.rows() == 0) {
      throw new InvalidTraceException(file + ": has no requests");
    }
    parser.finish();
    return trace.build();
  }

  private static Trace.Builder builder(
      String file, Trace.Format format, TraceUnits units, boolean chats) {
    Integer blockTokens = units.blockTokens();
    if (blockTokens == null) {
      blockTokens = chats ? TraceUnits.CHAT_BLOCK_TOKENS : TraceUnits.BLOCK_TOKENS;
    }
    TraceUnits.Time time = units.time();
    if (time == null) {
      time = chats ? TraceUnits.Time.S : TraceUnits.Time.MS;
    }
    Trace.Builder trace = new Trace.Builder(file, format, blockTokens).timeUnit(time);
    if (chats) {
      trace.warn(
          "rows have chat_id and parent_chat_id, so timestamps are read as "
              + time.plural()
              + " (--trace-time-unit), and ids as "
              + blockTokens
              + " tokens (--trace-block-tokens)");
    }
    return trace;
  }

  /** Reads a line. Damaged compressed data throws an I/O exception at an arbitrary line. */
  private static String nextLine(String file, BufferedReader lines, long number)
      throws IOException {
    try {
      return lines.readLine();
    } catch (IOException e) {
      throw new TraceLine(file, number)
          .invalid("the file is damaged or cut short: " + Errors.reason(e), e);
    }
  }

  private static Trace.Format formatOf(TraceLine line, String first) throws InvalidTraceException {
    String text = first.strip();
    if (RECORDED.matcher(text).find()) {
      throw line.invalid("is a line of a recording; replay it with --recording");
    }
    if (text.startsWith("{")) {
      return Trace.Format.MOONCAKE;
    }
    if (AzureParser.plain(text).equalsIgnoreCase(AzureParser.HEADER)) {
      return Trace.Format.AZURE;
    }
    if (text.startsWith("[")) {
      throw line.invalid("is a JSON array; each line must be a JSON object (Mooncake)");
    }
    throw line.invalid(
        "must be a JSON object (Mooncake) or the header " + AzureParser.HEADER + " (Azure)");
  }
}
