package io.kvasir.cli.command;

import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.route.RouteLines;
import io.kvasir.cli.terminal.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import picocli.CommandLine.Command;

/** {@code kvasir route}: decisions of routers from JSON lines. */
@Command(
    name = "route",
    description = {
      "Runs routers on JSON lines: reads operations, one object a line, and writes one object for"
          + " each. docs/json-lines.md describes them.",
      ""
    })
final class RouteCommand extends LinesCommand {

  RouteCommand(Console console) {
    super(console);
  }

  @Override
  boolean answer(InputStream in, OutputStream out, LineLimit limit) throws IOException {
    try (RouteLines lines = new RouteLines(in, out, limit)) {
      return lines.run();
    }
  }
}
