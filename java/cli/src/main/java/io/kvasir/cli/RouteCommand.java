package io.kvasir.cli;

import io.kvasir.cli.route.RouteLines;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kvasir route}: decisions of routers from JSON lines. */
@Command(
    name = "route",
    sortOptions = false,
    description = {
      "Asks routers from JSON lines: reads operations, one object a line, and writes one object"
          + " for each. docs/routers.md says what they are.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed, 2 a line was not valid (its answer says"
          + " why)."
    })
final class RouteCommand implements Callable<Integer> {

  private final Console console;

  @Parameters(
      arity = "0..1",
      paramLabel = "FILE",
      description = "Where the operations are (default: standard input).")
  private Path file;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  @Option(names = "--verbose", description = "Log more, and show where errors occur.")
  @SuppressWarnings("unused") // read before parsing, so that parsing is covered too
  private boolean verbose;

  RouteCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    if (file == null) {
      return run(console.in());
    }
    if (!Files.isRegularFile(file)) {
      throw new UsageException("FILE", "must be a file, not '" + file + "'");
    }
    try (InputStream in = Files.newInputStream(file)) {
      return run(in);
    }
  }

  private int run(InputStream in) throws IOException {
    return new RouteLines(in, console.out()).run() ? ExitCode.DONE : ExitCode.USAGE;
  }
}
