package io.kvasir.cli.command;

import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.index.IndexLines;
import io.kvasir.cli.terminal.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import picocli.CommandLine.Command;

/** {@code kvasir index}: the ranks that hold a prefix, from JSON lines. */
@Command(
    name = "index",
    description = {
      "Updates and queries a prefix index: reads operations on the blocks that ranks hold, one"
          + " object a line, and writes one object for each. docs/index.md describes them.",
      ""
    })
final class IndexCommand extends LinesCommand {

  IndexCommand(Console console) {
    super(console);
  }

  @Override
  boolean answer(InputStream in, OutputStream out, LineLimit limit) throws IOException {
    try (IndexLines lines = new IndexLines(in, out, limit)) {
      return lines.run();
    }
  }
}
