package io.kvasir.cli.terminal;

import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Objects;

/**
 * Standard error, for notes and logs. A server detaches it, so that neither its requests nor its
 * stop wait for a reader that hangs; up to {@value #MAX_BYTES} bytes wait for that reader then, and
 * further lines are counted instead.
 *
 * <p>Thread-safe.
 */
public final class ErrorStream extends PrintStream {

  private static final int MAX_BYTES = 1 << 20;
  private static final int DRAIN_MS = 1_000;

  private final ErrorLines lines;

  private ErrorStream(ErrorLines lines, Charset charset) {
    super(lines, true, charset);
    this.lines = lines;
  }

  /**
   * Replaces {@link System#err}, which still receives everything.
   *
   * @return the new one
   */
  public static ErrorStream install() {
    String terminal = System.getProperty("stderr.encoding");
    String charset =
        Objects.requireNonNullElse(terminal, System.getProperty("native.encoding", "UTF-8"));
    ErrorStream stream =
        new ErrorStream(
            new ErrorLines(System.err, MAX_BYTES),
            Charset.isSupported(charset) ? Charset.forName(charset) : Charset.defaultCharset());
    System.setErr(stream);
    return stream;
  }

  /** From now on, writing does not wait for a reader. */
  void detach() {
    lines.detach();
  }

  /** Waits until everything is written, for at most a second. */
  void drain() {
    lines.drain(DRAIN_MS);
  }
}
