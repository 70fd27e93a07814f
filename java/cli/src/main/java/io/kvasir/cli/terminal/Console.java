package io.kvasir.cli.terminal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What a command talks to. Standard output reports its failures, unlike {@code System.out}.
 *
 * @param in standard input
 * @param out standard output
 * @param err standard error, for people
 * @param terminal whether {@code err} is a terminal
 * @param environment the environment's variables
 */
public record Console(
    InputStream in,
    OutputStream out,
    PrintStream err,
    boolean terminal,
    Map<String, String> environment) {

  /** Writes text to standard output. */
  public void print(String text) throws OutputException {
    write(stream -> stream.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Lets a writer write to standard output; its failures become {@link OutputException}s. */
  public void write(Writer writer) throws OutputException {
    try {
      writer.writeTo(out);
      out.flush();
    } catch (IOException e) {
      throw new OutputException(e);
    }
  }

  /** Tells people something on a line of its own. */
  public void note(String line) {
    err.println(line);
  }

  /** Something that writes bytes. */
  public interface Writer {
    void writeTo(OutputStream stream) throws IOException;
  }

  /** Standard output is closed or full. */
  public static final class OutputException extends Exception {
    private static final long serialVersionUID = 1L;

    OutputException(IOException cause) {
      super("cannot write to standard output: " + cause.getMessage(), cause);
    }
  }
}
