package io.kvasir.cli.lines;

import java.io.Flushable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads lines of bounded length. A line is valid until the next is read. Not thread-safe. */
final class LineReader {

  private final InputStream in;
  private final Flushable beforeWait;
  private final int longest;
  private final byte[] buffer = new byte[1 << 16];
  private int at;
  private int end;
  private byte[] bytes = new byte[1 << 12];
  private int length;
  private boolean tooLong;
  private boolean terminated;

  /**
   * Makes a reader.
   *
   * @param beforeWait flushed before a read that may wait for input
   * @param longest the most bytes of a line
   */
  LineReader(InputStream in, Flushable beforeWait, int longest) {
    this.in = in;
    this.beforeWait = beforeWait;
    this.longest = longest;
  }

  /** Reads the next line; false at the end. The last line need not end in a newline. */
  boolean next() throws IOException {
    length = 0;
    tooLong = false;
    terminated = false;
    boolean any = false;
    while (true) {
      if (at == end && !fill()) {
        return any;
      }
      any = true;
      int stop = at;
      while (stop < end && buffer[stop] != '\n') {
        stop++;
      }
      append(at, stop);
      at = stop;
      if (at < end) {
        at++;
        terminated = true;
        return true;
      }
    }
  }

  private boolean fill() throws IOException {
    if (in.available() == 0) {
      beforeWait.flush();
    }
    at = 0;
    end = Math.max(0, in.read(buffer));
    return end > 0;
  }

  /** Keeps nothing of a line that is too long. */
  private void append(int from, int to) {
    int more = to - from;
    tooLong |= more > longest - length;
    if (tooLong) {
      length = 0;
      return;
    }
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, Math.min(longest, 2 * bytes.length)));
    }
    System.arraycopy(buffer, from, bytes, length, more);
    length += more;
  }

  boolean tooLong() {
    return tooLong;
  }

  /** Whether the line ends with a newline. */
  boolean isTerminated() {
    return terminated;
  }

  /** The line; its {@link #length} bytes start at index 0. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }
}
