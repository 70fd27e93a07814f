package io.kvasir.cli;

import io.kvasir.cli.index.IndexLines;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kvasir index}: who holds which prefix, from JSON lines. */
@Command(
    name = "index",
    sortOptions = false,
    description = {
      "Tells a prefix index what engines store and remove, and asks it who holds a prompt: reads"
          + " operations, one object a line, and writes one object for each. docs/index.md says what"
          + " they are.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed, 2 a line was not valid (its answer says"
          + " why)."
    })
final class IndexCommand implements Callable<Integer> {

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

  IndexCommand(Console console) {
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
    try (IndexLines lines = new IndexLines(in, console.out())) {
      return lines.run() ? ExitCode.DONE : ExitCode.USAGE;
    }
  }
}
