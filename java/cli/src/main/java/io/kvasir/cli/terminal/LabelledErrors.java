package io.kvasir.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.Launch;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;

/**
 * Standard error of one of several processes that a launcher has started: every line begins with
 * the process's rank. Thread-safe as a {@link PrintStream} is, which is its only caller.
 */
public final class LabelledErrors extends FilterOutputStream {

  private final byte[] label;
  private boolean lineStarts = true;

  private LabelledErrors(OutputStream to, String label) {
    super(to);
    this.label = label.getBytes(UTF_8);
  }

  /**
   * Labels standard error, unless this process is alone.
   *
   * @param environment the environment's variables
   */
  public static void install(Map<String, String> environment) {
    try {
      Launch.of(environment)
          .filter(launch -> launch.size() > 1)
          .ifPresent(
              launch -> {
                OutputStream labelled =
                    new LabelledErrors(System.err, "[rank " + launch.rank() + "] ");
                System.setErr(new PrintStream(labelled, true, UTF_8));
              });
    } catch (IllegalArgumentException e) {
      // Reported where the launch matters.
    }
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    int from = offset;
    int end = offset + count;
    for (int i = offset; i < end; i++) {
      if (lineStarts) {
        out.write(bytes, from, i - from);
        out.write(label);
        from = i;
      }
      lineStarts = bytes[i] == '\n';
    }
    out.write(bytes, from, end - from);
  }
}
