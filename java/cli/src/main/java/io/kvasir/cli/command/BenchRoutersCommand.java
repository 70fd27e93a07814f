package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.replay.ReplaySettings;
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
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench routers}: ADP routers under load, with intervals. */
@Command(
    name = "routers",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares ADP routers under load: plays traces at the speed at which round-robin would keep"
          + " the worker prefilling for a given share of the time, several times with jittered"
          + " arrivals. Latencies are modelled, so they are the same on every machine.",
      ""
    })
final class BenchRoutersCommand implements Callable<Integer> {

  private static final int MOST_RANKS = 4096;
  private static final int MOST_JOBS = 256;
  private static final double MOST_JITTER_SECONDS = 86_400;
  private static final int UNIFORM_REQUESTS = 8_000;

  private final Console console;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "A trace to play; may be given several times. Without one: uniform.")
  private List<String> traces = List.of();

  @Option(
      names = "--load",
      paramLabel = "RANKS@SHARE[,...]",
      defaultValue = "8@0.5,8@0.8,8@0.95,64@0.8",
      order = 2,
      description =
          "Ranks, and share of the time in which round-robin would prefill"
              + " (default: ${DEFAULT-VALUE}).")
  private String loads;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N[,N]",
      defaultValue = "250000,1000000,3000000",
      order = 3,
      description = "Tokens of KV that a rank's pool holds (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--router",
      paramLabel = "NAME[,NAME]",
      defaultValue = "default,kv_cache_aware,conversation,projected",
      order = 4,
      description = "Policies to compare (default: ${DEFAULT-VALUE}).")
  private String routers;

  @Option(
      names = "--seeds",
      paramLabel = "N[,N]",
      defaultValue = "1,2,3,4,5",
      order = 5,
      description = "Seeds of the arrivals' jitter (default: ${DEFAULT-VALUE}).")
  private String seeds;

  @Option(
      names = "--jitter-seconds",
      paramLabel = "X",
      defaultValue = "3",
      order = 6,
      description =
          "Longest time by which an arrival is put off, in the trace's time"
              + " (default: ${DEFAULT-VALUE}).")
  private String jitterSeconds;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      order = 7,
      description = "Replays at a time (default: the machine's processors).")
  private String jobs;

  @Mixin private CommonOptions common;

  BenchRoutersCommand(Console console) {
    this.console = console;
  }

  /** What is played, with and without conversation ids. */
  private record Played(RequestSequence requests, RequestSequence withoutConversations) {}

  @Override
  public Integer call() throws Exception {
    CommonOptions.Format format = common.format();
    List<AdpRouterKind> kinds = Values.list("--router", routers, BenchRoutersCommand::router);
    List<Load> allLoads = Values.list("--load", loads, BenchRoutersCommand::load);
    List<Integer> pools =
        Values.list(
            "--pool-tokens",
            poolTokens,
            text -> Values.integer("--pool-tokens", text, 1024, Integer.MAX_VALUE));
    List<Long> allSeeds = Values.list("--seeds", seeds, text -> Values.seed("--seeds", text));
    if (allSeeds.size() > Estimate.MOST_VALUES) {
      throw new UsageException("--seeds", "must be " + Estimate.MOST_VALUES + " at most");
    }
    double jitter = Values.number("--jitter-seconds", jitterSeconds, 0, MOST_JITTER_SECONDS);
    int threads =
        jobs == null
            ? Runtime.getRuntime().availableProcessors()
            : Values.integer("--jobs", jobs, 1, MOST_JOBS);
    List<Played> allPlayed = played();
    boolean text = format == CommonOptions.Format.TEXT;
    if (text) {
      console.print(CellTable.head(kinds));
    }
    List<Cell<PlayedLoad>> cells = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (Played played : allPlayed) {
        RouterComparison comparison =
            new RouterComparison(
                played.requests(),
                played.withoutConversations(),
                settings(),
                jitter,
                allSeeds,
                pool);
        for (Load load : allLoads) {
          for (int tokens : pools) {
            Cell<PlayedLoad> cell = comparison.compare(load, tokens, kinds);
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
      for (AdpRouterKind kind : kinds) {
        console.print(CellTable.summary(cells, kind.id()));
      }
    } else {
      console.write(stream -> CellJson.write(cells, stream));
    }
    return ExitCode.DONE;
  }

  private List<Played> played() throws IOException {
    List<Played> all = new ArrayList<>();
    for (String file : traces) {
      Trace trace = TraceReader.read(path(file), 512);
      all.add(
          new Played(
              new TraceRequests(trace, Conversations.infer(trace)),
              new TraceRequests(trace, Conversations.none())));
    }
    if (all.isEmpty()) {
      RequestSequence uniform =
          new SharedPrefix(
              new SharedPrefix.Shape(
                  UNIFORM_REQUESTS,
                  0,
                  0,
                  0,
                  new LognormalTokens(4_000, 1.0),
                  new IntRange(50, 500),
                  5,
                  1));
      all.add(new Played(uniform, uniform));
    }
    return all;
  }

  private static Path path(String file) {
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw new UsageException("--trace", "must be a path, not '" + file + "'");
    }
  }

  private static ReplaySettings settings() {
    return new ReplaySettings(
        8,
        1_000_000,
        32,
        HashFormat.KVASIR,
        AdpRouterKind.DEFAULT,
        AttentionDpConfig.DEFAULT,
        ExecutorOptions.DEFAULT,
        WaitingQueuePolicy.FCFS,
        StepTiming.DEFAULT);
  }

  private static AdpRouterKind router(String name) {
    return Values.choice("--router", name, List.of(AdpRouterKind.values()), AdpRouterKind::id);
  }

  private static Load load(String text) {
    String[] parts = text.split("@", -1);
    if (parts.length != 2) {
      throw new UsageException(
          "--load", "must be RANKS@SHARE, for example 8@0.8, not '" + text + "'");
    }
    return new Load(
        Values.integer("--load", parts[0], 1, MOST_RANKS),
        Values.number("--load", parts[1], 0.01, 0.99));
  }
}
