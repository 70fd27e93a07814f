package io.kvasir.cli.command;

import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.option.WorkerOptions;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.report.CellJson;
import io.kvasir.simulator.report.CellTable;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.TraceRequests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench routers}: routers under load, with intervals. */
@Command(
    name = "routers",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares ADP routers, or fleet routers, under load: plays traces at a speed at which"
          + " round-robin would prefill for a given share of the time, several times with jittered arrivals. Latencies are"
          + " modelled, so they are the same on every machine.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchRoutersCommand implements Callable<Integer> {

  private static final int MAX_RANKS = 4096;
  private static final double MAX_JITTER_SECONDS = 86_400;

  private final Console console;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "Trace to play; can be repeated (default: a uniform workload).")
  private List<String> traces = List.of();

  @Option(
      names = "--load",
      paramLabel = "RANKS@SHARE[,...]",
      defaultValue = "8@0.5,8@0.8,8@0.95,64@0.8",
      order = 2,
      description =
          "Ranks, and share of time for which round-robin prefills (default: ${DEFAULT-VALUE}).")
  private String loads;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N[,N]",
      defaultValue = "250000,1000000,3000000",
      order = 3,
      description = "Tokens of KV in the pool of a rank (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--router",
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.AdpRouters.class,
      order = 4,
      description =
          "ADP routers to compare (default: default,kv_cache_aware,conversation,projected).")
  private @Nullable String routers;

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.FleetRouters.class,
      order = 4,
      description =
          "Fleet routers to compare instead, over RANKS workers of one rank: any of"
              + " ${COMPLETION-CANDIDATES}.")
  private @Nullable String fleetRouters;

  @Option(
      names = "--jitter-seconds",
      paramLabel = "X",
      defaultValue = "3",
      order = 5,
      description =
          "Longest delay of an arrival, on the clock of the trace (default: ${DEFAULT-VALUE}).")
  private String jitterSeconds;

  @Mixin private final ComparisonOptions comparisons = new ComparisonOptions("1,2,3,4,5");
  @Mixin private FormatOption format;

  BenchRoutersCommand(Console console) {
    this.console = console;
  }

  /** The requests of a trace, with and without conversation ids. */
  private record Played(RequestSequence requests, RequestSequence withoutConversations) {}

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    if (routers != null && fleetRouters != null) {
      throw new UsageException(FleetOptions.ROUTER, "and --router exclude each other");
    }
    List<AdpRouterKind> kinds =
        routers == null ? List.of(AdpRouterKind.values()) : WorkerOptions.routers(routers);
    List<String> names =
        fleetRouters == null
            ? kinds.stream().map(AdpRouterKind::id).toList()
            : Values.list(
                FleetOptions.ROUTER, fleetRouters, name -> FleetOptions.router(name).name());
    List<Load> allLoads = Values.list("--load", loads, BenchRoutersCommand::load);
    List<Integer> pools =
        Values.list(
            "--pool-tokens",
            poolTokens,
            size -> Values.integer("--pool-tokens", size, 1024, Integer.MAX_VALUE));
    List<Long> seeds = comparisons.seeds();
    double jitter = Values.number("--jitter-seconds", jitterSeconds, 0, MAX_JITTER_SECONDS);
    List<Played> allPlayed = played();
    if (text) {
      console.print(CellTable.head(names));
    }
    List<Cell<PlayedLoad>> cells = new ArrayList<>();
    ExecutorService pool = comparisons.newPool();
    try {
      for (Played played : allPlayed) {
        RouterComparison comparison =
            new RouterComparison(
                played.requests(), played.withoutConversations(), jitter, seeds, pool);
        for (Load load : allLoads) {
          for (int tokens : pools) {
            Cell<PlayedLoad> cell = compare(comparison, load, tokens, kinds, names);
            cells.add(cell);
            if (text) {
              console.print(CellTable.row(cell));
            }
          }
        }
      }
    } finally {
      pool.shutdownNow();
    }
    if (text) {
      console.print("\n");
      for (String name : names) {
        console.print(CellTable.summary(cells, name));
      }
    } else {
      console.write(stream -> CellJson.write(cells, stream));
    }
    return ExitCode.DONE;
  }

  private Cell<PlayedLoad> compare(
      RouterComparison comparison,
      Load load,
      int poolTokens,
      List<AdpRouterKind> kinds,
      List<String> names)
      throws InterruptedException {
    try {
      return fleetRouters == null
          ? comparison.compare(load, poolTokens, kinds)
          : comparison.compareFleets(load, poolTokens, names);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--trace", Errors.reason(e));
    }
  }

  private List<Played> played() throws IOException {
    List<Played> all = new ArrayList<>();
    for (String file : traces) {
      Trace trace = TraceReader.read(Values.path("--trace", file), 512);
      all.add(
          new Played(
              new TraceRequests(trace, Conversations.infer(trace)),
              new TraceRequests(trace, Conversations.none())));
    }
    if (all.isEmpty()) {
      LognormalTokens inputs = new LognormalTokens(4_000, 1.0);
      IntRange outputs = new IntRange(50, 500);
      RequestSequence uniform =
          new SharedPrefix(new SharedPrefix.Shape(8_000, 0, 0, 0, inputs, outputs, 5, 1));
      all.add(new Played(uniform, uniform));
    }
    return all;
  }

  private static Load load(String text) {
    String[] parts = text.split("@", -1);
    if (parts.length != 2) {
      throw new UsageException(
          "--load", "must be RANKS@SHARE, for example 8@0.8, not '" + Errors.shown(text) + "'");
    }
    return new Load(
        Values.integer("--load", parts[0], 1, MAX_RANKS),
        Values.number("--load", parts[1], 0.01, 0.99));
  }
}
