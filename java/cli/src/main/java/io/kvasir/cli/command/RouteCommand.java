package io.kvasir.cli.command;

import io.kvasir.cli.lines.route.RouteLines;
import io.kvasir.cli.terminal.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import picocli.CommandLine.Command;

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
final class RouteCommand extends LinesCommand {

  RouteCommand(Console console) {
    super(console);
  }

  @Override
  boolean answer(InputStream in, OutputStream out) throws IOException {
    return new RouteLines(in, out).run();
  }
}
