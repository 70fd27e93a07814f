package io.kvasir.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What a command did. */
public record Outcome(int exitCode, String out, String err) {

  /** Runs a command line whose words are separated by single blanks. */
  public static Outcome of(Map<String, String> environment, String line) {
    return of(environment, "", line.isEmpty() ? new String[0] : line.split(" "));
  }

  /** Runs a command that may read from standard input. */
  static Outcome of(Map<String, String> environment, String in, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(in.getBytes(StandardCharsets.UTF_8)),
            out,
            new PrintStream(err, true, StandardCharsets.UTF_8),
            false,
            environment);
    int exitCode = new CommandRunner(console, FakeMachine.withoutGpu()).run(arguments);
    return new Outcome(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** What it printed, which must be JSON. */
  public JsonNode json() {
    try {
      return new ObjectMapper().readTree(out);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + out, e);
    }
  }
}
