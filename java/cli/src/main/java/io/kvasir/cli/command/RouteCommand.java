package io.kvasir.cli.command;

import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.route.RouteLines;
import io.kvasir.cli.lines.route.RouteTrace;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.KvCacheScoreOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.model.Errors;
import io.kvasir.simulator.trace.InvalidTraceException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code kvasir route}: decisions of routers from JSON lines, or the decisions of an engine
 * compared with Kvasir's.
 */
@Command(
    name = "route",
    description = {
      "Runs routers on JSON lines: reads operations, one object a line, and writes one object for"
          + " each. docs/json-lines.md describes them. With --trace, makes the decisions of a"
          + " TensorRT-LLM engine again and names the first that differs.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed, memory ran out, or a decision of the trace"
          + " differs, 2 a line was not valid (its answer says why)."
    })
final class RouteCommand extends LinesCommand {

  private static final String TRACE = "--trace";
  private static final String MAX_ACTIVE_REQUESTS = "--max-active-requests";
  private static final String STANDARD_INPUT = "-";

  private final Console console;

  private final Declared<Path> trace =
      path(TRACE)
          .help(
              2,
              "File that an engine wrote with TRTLLM_ADP_ROUTE_TRACE, or - for standard input, to"
                  + " compare its decisions of kv_cache_aware.");

  private final Declared<Integer> maxActiveRequests =
      integer(MAX_ACTIVE_REQUESTS, null, 1, Integer.MAX_VALUE)
          .help(
              3,
              "The engine's max_batch_size: with it, ranks that do not compete are checked too"
                  + " (default: unknown).");

  @Mixin private KvCacheScoreOptions scores;

  @Spec private CommandSpec command;

  RouteCommand(Console console) {
    super(console);
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    // Not isGiven(): KVASIR_TRACE is the trace of a replay.
    if (!isFlag(TRACE)) {
      refuse(MAX_ACTIVE_REQUESTS);
      KvCacheScoreOptions.NAMES.forEach(this::refuse);
      return super.call();
    }
    if (namesFile()) {
      throw new UsageException(TRACE, "and FILE exclude each other");
    }
    Path file = trace.value();
    if (file.toString().equals(STANDARD_INPUT)) {
      return compare("standard input", console.in());
    }
    try (InputStream in = open(TRACE, file)) {
      return compare(file.toString(), in);
    }
  }

  private boolean isFlag(String option) {
    return command.commandLine().getParseResult().hasMatchedOption(option);
  }

  private void refuse(String option) {
    if (isFlag(option)) {
      throw new UsageException(option, "needs " + TRACE);
    }
  }

  private int compare(String name, InputStream in) throws IOException, Console.OutputException {
    RouteTrace read =
        new RouteTrace(
            name,
            in,
            limit(),
            scores.with(KvCacheRoutingOptions.DEFAULT),
            maxActiveRequests.orElse(0));
    boolean agrees;
    try {
      agrees = read.run();
    } catch (InvalidLineException e) {
      throw new InvalidTraceException(Errors.reason(e), e);
    }
    console.print(read.report());
    return agrees ? ExitCode.DONE : ExitCode.FAILED;
  }

  @Override
  boolean answer(InputStream in, OutputStream out, LineLimit limit) throws IOException {
    try (RouteLines lines = new RouteLines(in, out, limit)) {
      return lines.run();
    }
  }
}
