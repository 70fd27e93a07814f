package io.kvasir.cli.command;

import io.kvasir.cli.lines.index.IndexLines;
import io.kvasir.cli.terminal.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import picocli.CommandLine.Command;

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
final class IndexCommand extends LinesCommand {

  IndexCommand(Console console) {
    super(console);
  }

  @Override
  boolean answer(InputStream in, OutputStream out) throws IOException {
    try (IndexLines lines = new IndexLines(in, out)) {
      return lines.run();
    }
  }
}
