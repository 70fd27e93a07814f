package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Reads a recording event by event, across rotated files. An unfinished last line is skipped and
 * counted. Not thread-safe.
 */
public final class RecordingReader implements AutoCloseable {

  private final Queue<Path> files;
  private @Nullable RecordingLines lines;
  private long tornLines;

  private RecordingReader(Queue<Path> files) {
    this.files = files;
  }

  /**
   * Opens a recording.
   *
   * @param path its file, or the first of its rotated files
   * @return the reader; the caller closes it
   * @throws InvalidRecordingException if there is no such file
   */
  public static RecordingReader open(Path path) throws InvalidRecordingException {
    return new RecordingReader(new ArrayDeque<>(RecordingFiles.of(path)));
  }

  /**
   * Reads the next event. O(its bytes).
   *
   * @return the event; null at the end
   * @throws InvalidRecordingException if a line is not an event; the message names file, line and
   *     byte; the next call continues after that line
   * @throws IOException if a file cannot be read
   */
  public @Nullable RecordedEvent next() throws IOException {
    while (true) {
      RecordingLines current = lines == null ? openNext() : lines;
      if (current == null) {
        return null;
      }
      if (!current.next()) {
        current.close();
        lines = null;
        continue;
      }
      try {
        return current.event();
      } catch (InvalidRecordingException e) {
        if (current.finished()) {
          throw e;
        }
        tornLines++;
      }
    }
  }

  /** {@return the number of unfinished last lines so far, at most one for each file} */
  public long tornLines() {
    return tornLines;
  }

  /** Opens the next file; null if there is none. */
  private @Nullable RecordingLines openNext() throws IOException {
    Path file = files.poll();
    if (file != null) {
      lines = new RecordingLines(file, Files.newInputStream(file));
    }
    return lines;
  }

  @Override
  public void close() throws IOException {
    files.clear();
    if (lines != null) {
      lines.close();
      lines = null;
    }
  }
}
