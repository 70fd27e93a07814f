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

/** Reads trace files: Mooncake's JSON lines and CSV, plain or compressed. Thread-safe. */
public final class TraceReader {

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  private TraceReader() {}

  /**
   * Reads and validates a whole file, as a stream. O(bytes).
   *
   * @param file the file; gzip, xz and zstd are recognised by their first bytes
   * @param reading how it is read
   * @return the rows
   * @throws InvalidTraceException if the file is missing, empty or truncated, or a line is invalid
   * @throws IOException if a plain file cannot be read to its end
   */
  public static Trace read(Path file, TraceReading reading) throws IOException {
    if (Files.isDirectory(file)) {
      throw new InvalidTraceException(Errors.shown(file) + ": is a directory, not a trace");
    }
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(Compression.open(file), StandardCharsets.UTF_8))) {
      return readLines(file.toString(), lines, reading);
    } catch (NoSuchFileException | FileNotFoundException e) {
      throw new InvalidTraceException(Errors.shown(file) + ": no such file", e);
    } catch (AccessDeniedException e) {
      throw new InvalidTraceException(Errors.shown(file) + ": may not be read", e);
    }
  }

  private static Trace readLines(String file, BufferedReader lines, TraceReading reading)
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
    RowParsers rows = RowParsers.of(first, text, reading);
    TraceBuilder trace = rows.trace();
    RowParser parser = rows.parser();
    if (rows.skipsFirst()) {
      text = nextLine(file, lines, ++number);
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
}
