package io.kvasir.cli.command;

import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.FleetDelays;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.ClosedLoad;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench selectors}: fleet routers under load, with intervals. */
@Command(
    name = "selectors",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares fleet routers over workers of one rank each, in closed loops of prompts whose first"
          + " half is one of a few prefixes. Prompts have equal lengths in the first loops and"
          + " varied lengths in the others. Latencies are modelled, so they are the same on every"
          + " machine.",
      ""
    },
    footer = {
      "",
      "TTFT, ITL: time to the first and to each next token. Behind prompts: share of the requests"
          + " placed on a worker that was computing another prompt.",
      "CV, max/min: spread of the requests over the workers. Bold: the lowest mean of the p95 TTFT"
          + " under a load; in a tie, all of them.",
      "",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."
    })
final class BenchSelectorsCommand implements Callable<Integer> {

  private static final int MAX_REQUESTS = 1_000_000;
  private static final int MAX_TOKENS = 1 << 20;
  private static final int MAX_BLOCK_TOKENS = 1 << 16;
  private static final double MIN_TTL_SECONDS = 0.001;
  private static final double MAX_TTL_SECONDS = 86_400;
  private static final double MAX_OVERLAP_SCORE_WEIGHT = 1000;

  private final Console console;

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.FleetRouters.class,
      defaultValue = "projected,cost,polled,approximate,round_robin",
      order = 1,
      description =
          "Fleet routers to compare, any of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
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
      description = "Requests that arrive at once; 0 for no burst (default: ${DEFAULT-VALUE}).")
  private String burst;

  @Option(
      names = "--input-tokens",
      paramLabel = "N",
      defaultValue = "7000",
      order = 4,
      description = "Tokens in a prompt (default: ${DEFAULT-VALUE}).")
  private String inputTokens;

  @Option(
      names = "--prefixes",
      paramLabel = "N",
      defaultValue = "10",
      order = 5,
      description =
          "Equally popular prefixes, each half of a prompt long (default: ${DEFAULT-VALUE}).")
  private String prefixes;

  @Option(
      names = "--output-tokens",
      paramLabel = "N",
      defaultValue = "200",
      order = 6,
      description = "Tokens in an answer (default: ${DEFAULT-VALUE}).")
  private String outputTokens;

  @Option(
      names = FleetOptions.WORKERS,
      paramLabel = "N",
      defaultValue = "8",
      order = 7,
      description = "Number of workers (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N",
      defaultValue = "1048576",
      order = 8,
      description = "Tokens of KV in the pool of a worker (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--tokens-per-block",
      paramLabel = "N",
      defaultValue = "64",
      order = 9,
      description = "Tokens in a block (default: ${DEFAULT-VALUE}).")
  private String tokensPerBlock;

  @Option(
      names = "--event-delay-ms",
      paramLabel = "X",
      defaultValue = "5",
      order = 10,
      description = "Modelled delay of block events (default: ${DEFAULT-VALUE}).")
  private String eventDelayMs;

  @Option(
      names = "--router-ttl-secs",
      paramLabel = "X",
      defaultValue = "120",
      order = 11,
      description =
          "approximate: modelled lifetime of a placed prefix (default: ${DEFAULT-VALUE}).")
  private String routerTtlSecs;

  @Option(
      names = "--router-predicted-ttl-secs",
      paramLabel = "X",
      defaultValue = "2",
      order = 12,
      description =
          "cost: modelled lifetime of a predicted prefix; 0 for none (default: ${DEFAULT-VALUE}).")
  private String routerPredictedTtlSecs;

  @Option(
      names = "--kv-overlap-score-weight",
      paramLabel = "X",
      defaultValue = "1",
      order = 13,
      description =
          "cost, approximate: weight of uncached over active blocks (default: ${DEFAULT-VALUE}).")
  private String overlapScoreWeight;

  @Mixin private FleetDelays delays;
  @Mixin private final ComparisonOptions comparisons = new ComparisonOptions("1,2,3");
  @Mixin private FormatOption format;

  BenchSelectorsCommand(Console console) {
    this.console = console;
  }

  /** A number of requests, and the number of them in flight. */
  private record Loop(int requests, int concurrency) {}

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    List<FleetSettings> fleets = Values.list(FleetOptions.ROUTER, routers, this::fleet);
    ReplaySettings worker = worker();
    for (FleetSettings fleet : fleets) {
      FleetOptions.worker(worker, fleet, option -> false); // refuses what cannot be replayed
    }
    List<Loop> loops = loops();
    List<Cell<ClosedLoad>> cells = new ArrayList<>();
    ExecutorService pool = comparisons.newPool();
    try {
      FleetComparison comparison =
          new FleetComparison(prompts(), worker, comparisons.seeds(), pool);
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
    int looped = Values.integer("--requests", requests, 1, MAX_REQUESTS);
    List<Loop> loops =
        Values.list(
            "--concurrency",
            concurrencies,
            part -> new Loop(looped, Values.integer("--concurrency", part, 1, MAX_REQUESTS)));
    int atOnce = Values.integer("--burst", burst, 0, MAX_REQUESTS);
    if (atOnce > 0) {
      loops.add(new Loop(atOnce, atOnce));
    }
    return loops;
  }

  private PrefixedPrompts prompts() {
    return new PrefixedPrompts(
        Values.integer("--prefixes", prefixes, 1, MAX_REQUESTS),
        Values.integer("--input-tokens", inputTokens, 2, MAX_TOKENS),
        Values.integer("--output-tokens", outputTokens, 2, MAX_TOKENS));
  }

  private ReplaySettings worker() {
    int blockTokens = Values.integer("--tokens-per-block", tokensPerBlock, 1, MAX_BLOCK_TOKENS);
    return new ReplaySettings(
        1,
        Values.integer("--pool-tokens", poolTokens, blockTokens, Integer.MAX_VALUE),
        blockTokens);
  }

  private FleetSettings fleet(String name) {
    FleetRouterProvider router = FleetOptions.router(name);
    Map<String, Object> args = new HashMap<>();
    set(args, router, "router_ttl_secs", routerTtlSecs, MIN_TTL_SECONDS, MAX_TTL_SECONDS);
    set(args, router, "router_predicted_ttl_secs", routerPredictedTtlSecs, 0, MAX_TTL_SECONDS);
    set(args, router, "kv_overlap_score_weight", overlapScoreWeight, 0, MAX_OVERLAP_SCORE_WEIGHT);
    return delays.fleet(workers, router, args, eventDelayMs);
  }

  /** Sets an arg from the option of the same name if the router has it. */
  private static void set(
      Map<String, Object> args,
      FleetRouterProvider router,
      String key,
      String text,
      double minimum,
      double maximum) {
    double value = Values.number("--" + key.replace('_', '-'), text, minimum, maximum);
    if (router.keys().contains(key)) {
      args.put(key, value);
    }
  }
}
