package io.kvasir.cli.terminal;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Input, output and environment of a command. Failed output is reported, unlike that of {@code
 * System.out}.
 *
 * @param in standard input
 * @param out standard output
 * @param err standard error, for messages to people
 * @param terminal whether {@code err} is a terminal
 * @param environment the environment's variables
 */
public record Console(
    InputStream in,
    OutputStream out,
    PrintStream err,
    boolean terminal,
    Map<String, String> environment) {

  /**
   * Writes text to standard output.
   *
   * @param text the text
   * @throws OutputException if standard output is closed or full
   */
  public void print(String text) throws OutputException {
    write(stream -> stream.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * Writes bytes to standard output.
   *
   * @param writer writes the bytes
   * @throws OutputException if the writer fails
   */
  public void write(Writer writer) throws OutputException {
    try {
      writer.writeTo(out);
      out.flush();
    } catch (IOException e) {
      throw new OutputException(e);
    }
  }

  /**
   * Writes a line to standard error.
   *
   * @param line the line
   */
  public void note(String line) {
    err.println(line);
  }

  /** From now on, notes and logs do not wait until standard error is read; for servers. */
  public void detachErrors() {
    if (err instanceof ErrorStream stream) {
      stream.detach();
    }
  }

  /** Waits until detached notes and logs are written, for at most a second. */
  public void drainErrors() {
    if (err instanceof ErrorStream stream) {
      stream.drain();
    }
  }

  /** Writes bytes. */
  public interface Writer {

    /**
     * Writes all bytes.
     *
     * @param stream receives them
     * @throws IOException if they cannot be written
     */
    void writeTo(OutputStream stream) throws IOException;
  }

  /** Standard output is closed or full. */
  public static final class OutputException extends Exception {
    private static final long serialVersionUID = 1L;

    OutputException(IOException cause) {
      super("cannot write to standard output: " + Errors.reason(cause), cause);
    }
  }
}
