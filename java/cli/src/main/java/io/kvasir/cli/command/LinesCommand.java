package io.kvasir.cli.command;

import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** A command that answers JSON lines of a file or of standard input. */
@Command(
    sortOptions = false,
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed or memory ran out, 2 a line was not valid (its answer says"
          + " why)."
    })
abstract class LinesCommand extends DeclaredOptions implements Callable<Integer> {

  private static final long MAX_LINE_TOKENS = 1L << 40;

  private final Console console;

  @Parameters(
      arity = "0..1",
      paramLabel = "FILE",
      description = "File of operations (default: standard input).")
  private @Nullable Path file;

  private final Declared<String> maxLineTokens =
      text(LineLimit.OPTION, "N", "" + LineLimit.DEFAULT_TOKENS)
          .help(
              1,
              "Most tokens of a line, with those of inputLength, and blocks, requests"
                  + " and ranks");

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  LinesCommand(Console console) {
    this.console = console;
  }

  /** Answers all lines. Returns whether all were valid. */
  abstract boolean answer(InputStream in, OutputStream out, LineLimit limit) throws IOException;

  @Override
  public Integer call() throws Exception {
    if (file == null) {
      return run(console.in());
    }
    try (InputStream in = open("FILE", file)) {
      return run(in);
    }
  }

  private int run(InputStream in) throws IOException {
    return answer(in, console.out(), limit()) ? ExitCode.DONE : ExitCode.USAGE;
  }

  /** Whether the operations are in a file. */
  final boolean namesFile() {
    return file != null;
  }

  /** The limit of a line. */
  final LineLimit limit() {
    return new LineLimit(
        Values.longInteger(LineLimit.OPTION, maxLineTokens.value(), 1, MAX_LINE_TOKENS));
  }

  /**
   * Opens a file.
   *
   * @param option the option or parameter that names it
   */
  static InputStream open(String option, Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new UsageException(option, "must be a file, not '" + Errors.shown(file) + "'");
    }
    return Files.newInputStream(file);
  }
}
