package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.ClosedLoad;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.FleetComparison;
import io.kvasir.simulator.compare.PrefixedPrompts;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.report.CellJson;
import io.kvasir.simulator.report.FleetTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench selectors}: fleet routers under load, with intervals. */
@Command(
    name = "selectors",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares fleet routers over workers of one rank, in a closed loop of prompts whose first half"
          + " is one of a few prefixes: first all equally long, then varied. Latencies are modelled, so"
          + " they are the same on every machine.",
      ""
    })
final class BenchSelectorsCommand implements Callable<Integer> {

  private static final int MOST_WORKERS = 1024;
  private static final int MOST_REQUESTS = 1_000_000;
  private static final int MOST_TOKENS = 1 << 20;
  private static final int MOST_BLOCK_TOKENS = 1 << 16;
  private static final int MOST_JOBS = 256;
  private static final double LEAST_INTERVAL_MS = 0.001;
  private static final double LEAST_TTL_SECONDS = 0.001;
  private static final double MOST_TTL_SECONDS = 86_400;
  private static final double MOST_OVERLAP_SCORE_WEIGHT = 1000;

  /** The name of {@code cost} in earlier releases. */
  private static final String COST_BEFORE = "predictive";

  private final Console console;

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME[,NAME]",
      defaultValue = "cost,polled,approximate,round_robin",
      order = 1,
      description = "Policies to compare (default: ${DEFAULT-VALUE}).")
  private String routers;

  @Option(
      names = "--concurrency",
      paramLabel = "N[,N]",
      defaultValue = "10,20",
      order = 2,
      description = "Requests in flight in a closed loop (default: ${DEFAULT-VALUE}).")
  private String concurrencies;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "2000",
      order = 3,
      description = "Requests of each closed loop (default: ${DEFAULT-VALUE}).")
  private String requests;

  @Option(
      names = "--burst",
      paramLabel = "N",
      defaultValue = "1000",
      order = 3,
      description = "Requests that come all at once; 0 for no burst (default: ${DEFAULT-VALUE}).")
  private String burst;

  @Option(
      names = "--input-tokens",
      paramLabel = "N",
      defaultValue = "7000",
      order = 4,
      description = "Tokens of a prompt (default: ${DEFAULT-VALUE}).")
  private String inputTokens;

  @Option(
      names = "--prefixes",
      paramLabel = "N",
      defaultValue = "10",
      order = 5,
      description =
          "Prefixes, each of half a prompt's tokens, equally popular (default: ${DEFAULT-VALUE}).")
  private String prefixes;

  @Option(
      names = "--output-tokens",
      paramLabel = "N",
      defaultValue = "200",
      order = 6,
      description = "Tokens of an answer (default: ${DEFAULT-VALUE}).")
  private String outputTokens;

  @Option(
      names = FleetOptions.WORKERS,
      paramLabel = "N",
      defaultValue = "8",
      order = 7,
      description = "Workers of one rank each (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N",
      defaultValue = "1048576",
      order = 8,
      description = "Tokens of KV that a worker's pool holds (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--tokens-per-block",
      paramLabel = "N",
      defaultValue = "64",
      order = 9,
      description = "Tokens of a block (default: ${DEFAULT-VALUE}).")
  private String tokensPerBlock;

  @Option(
      names = "--event-delay-ms",
      paramLabel = "X",
      defaultValue = "5",
      order = 10,
      description =
          "Modelled time from a change of a worker's blocks to its event at the router"
              + " (default: ${DEFAULT-VALUE}).")
  private String eventDelayMs;

  @Option(
      names = "--metric-delay-ms",
      paramLabel = "X",
      defaultValue = "5",
      order = 11,
      description =
          "polled: modelled time from a poll of the metrics to its answer"
              + " (default: ${DEFAULT-VALUE}).")
  private String metricDelayMs;

  @Option(
      names = "--metric-interval-ms",
      paramLabel = "X",
      defaultValue = "100",
      order = 12,
      description = "polled: modelled time between polls (default: ${DEFAULT-VALUE}).")
  private String metricIntervalMs;

  @Option(
      names = "--router-ttl-secs",
      paramLabel = "X",
      defaultValue = "120",
      order = 13,
      description =
          "approximate: modelled time for which a placed prefix counts as matched"
              + " (default: ${DEFAULT-VALUE}).")
  private String routerTtlSecs;

  @Option(
      names = "--router-predicted-ttl-secs",
      paramLabel = "X",
      defaultValue = "2",
      order = 14,
      description =
          "cost: modelled time for which a placed prefix counts as matched before its events arrive;"
              + " 0 for not at all (default: ${DEFAULT-VALUE}).")
  private String routerPredictedTtlSecs;

  @Option(
      names = "--kv-overlap-score-weight",
      paramLabel = "X",
      defaultValue = "1",
      order = 15,
      description =
          "cost, approximate: weight of prompt blocks to compute against active blocks"
              + " (default: ${DEFAULT-VALUE}).")
  private String overlapScoreWeight;

  @Option(
      names = "--seeds",
      paramLabel = "N[,N]",
      defaultValue = "1,2,3",
      order = 16,
      description = "Seeds of the prompts (default: ${DEFAULT-VALUE}).")
  private String seeds;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      order = 17,
      description = "Replays at a time (default: the machine's processors).")
  private String jobs;

  @Mixin private CommonOptions common;

  BenchSelectorsCommand(Console console) {
    this.console = console;
  }

  /** Requests, and how many of them are in flight. */
  private record Loop(int requests, int concurrency) {}

  @Override
  public Integer call() throws Exception {
    boolean text = common.format() == CommonOptions.Format.TEXT;
    List<FleetSettings> fleets = Values.list(FleetOptions.ROUTER, routers, this::fleet);
    List<Loop> loops = loops();
    int threads =
        jobs == null
            ? Runtime.getRuntime().availableProcessors()
            : Values.integer("--jobs", jobs, 1, MOST_JOBS);
    List<Cell<ClosedLoad>> cells = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      FleetComparison comparison = new FleetComparison(prompts(), worker(), seeds(), pool);
      if (text) {
        console.print(FleetTable.head());
      }
      for (PrefixedPrompts.Lengths lengths : PrefixedPrompts.Lengths.values()) {
        for (Loop loop : loops) {
          Cell<ClosedLoad> cell =
              comparison.compare(
                  new ClosedLoad(lengths, loop.requests(), loop.concurrency()), fleets);
          cells.add(cell);
          if (text) {
            console.print(FleetTable.rows(cell));
          }
        }
      }
      if (!text) {
        console.write(stream -> CellJson.write(comparison, fleets.get(0), cells, stream));
      }
    } finally {
      pool.shutdownNow();
    }
    return ExitCode.DONE;
  }

  private List<Loop> loops() {
    int looped = Values.integer("--requests", requests, 1, MOST_REQUESTS);
    List<Loop> loops =
        Values.list(
            "--concurrency",
            concurrencies,
            part -> new Loop(looped, Values.integer("--concurrency", part, 1, MOST_REQUESTS)));
    int atOnce = Values.integer("--burst", burst, 0, MOST_REQUESTS);
    if (atOnce > 0) {
      loops.add(new Loop(atOnce, atOnce));
    }
    return loops;
  }

  private PrefixedPrompts prompts() {
    return new PrefixedPrompts(
        Values.integer("--prefixes", prefixes, 1, MOST_REQUESTS),
        Values.integer("--input-tokens", inputTokens, 2, MOST_TOKENS),
        Values.integer("--output-tokens", outputTokens, 2, MOST_TOKENS));
  }

  private ReplaySettings worker() {
    int blockTokens = Values.integer("--tokens-per-block", tokensPerBlock, 1, MOST_BLOCK_TOKENS);
    return new ReplaySettings(
        1,
        Values.integer("--pool-tokens", poolTokens, blockTokens, Integer.MAX_VALUE),
        blockTokens,
        HashFormat.KVASIR,
        AdpRouterKind.DEFAULT,
        AttentionDpConfig.DEFAULT,
        ExecutorOptions.DEFAULT,
        WaitingQueuePolicy.FCFS,
        StepTiming.DEFAULT);
  }

  private FleetSettings fleet(String name) {
    FleetRouterProvider router =
        FleetOptions.named(name.equals(COST_BEFORE) ? FleetRouterKind.COST : name);
    Map<String, Object> args = new HashMap<>();
    give(args, router, "router_ttl_secs", "--router-ttl-secs", routerTtlSecs, LEAST_TTL_SECONDS);
    give(
        args,
        router,
        "router_predicted_ttl_secs",
        "--router-predicted-ttl-secs",
        routerPredictedTtlSecs,
        0);
    if (router.keys().contains("kv_overlap_score_weight")) {
      args.put(
          "kv_overlap_score_weight",
          Values.number(
              "--kv-overlap-score-weight", overlapScoreWeight, 0, MOST_OVERLAP_SCORE_WEIGHT));
    }
    return new FleetSettings(
        Values.integer(FleetOptions.WORKERS, workers, 1, MOST_WORKERS),
        router,
        args,
        FleetOptions.ns("--event-delay-ms", eventDelayMs, 0),
        FleetOptions.ns("--metric-delay-ms", metricDelayMs, 0),
        FleetOptions.ns("--metric-interval-ms", metricIntervalMs, LEAST_INTERVAL_MS));
  }

  private static void give(
      Map<String, Object> args,
      FleetRouterProvider router,
      String key,
      String option,
      String seconds,
      double least) {
    double value = Values.number(option, seconds, least, MOST_TTL_SECONDS);
    if (router.keys().contains(key)) {
      args.put(key, value);
    }
  }

  private List<Long> seeds() {
    List<Long> all = Values.list("--seeds", seeds, text -> Values.seed("--seeds", text));
    if (all.size() > Estimate.MOST_VALUES) {
      throw new UsageException("--seeds", "must be " + Estimate.MOST_VALUES + " at most");
    }
    return all;
  }
}
