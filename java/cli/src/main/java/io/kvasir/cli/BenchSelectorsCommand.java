package io.kvasir.cli;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.PrefixedPrompts;
import io.kvasir.simulator.compare.SelectorCell;
import io.kvasir.simulator.compare.SelectorComparison;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.report.SelectorJson;
import io.kvasir.simulator.report.SelectorTable;
import io.kvasir.simulator.selection.SelectorKind;
import io.kvasir.simulator.selection.SelectorSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench selectors}: who chooses the instance, and what that one knows. */
@Command(
    name = "selectors",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares selectors over instances of one rank, in a closed loop of prompts whose first half"
          + " is one of a few prefixes: first all equally long, then varied. Times are modelled, so"
          + " they are the same on every machine.",
      ""
    })
final class BenchSelectorsCommand implements Callable<Integer> {

  private static final int MOST_INSTANCES = 1024;
  private static final int MOST_REQUESTS = 1_000_000;
  private static final int MOST_TOKENS = 1 << 20;
  private static final int MOST_BLOCK_TOKENS = 1 << 16;
  private static final int MOST_JOBS = 256;
  private static final double MOST_DELAY_MS = 3_600_000;
  private static final double LEAST_INTERVAL_MS = 0.001;
  private static final double LEAST_TTL_SECONDS = 0.001;
  private static final double MOST_TTL_SECONDS = 86_400;
  private static final double MOST_OVERLAP_SCORE_WEIGHT = 1000;
  private static final double NS_PER_MS = 1e6;
  private static final double MS_PER_S = 1e3;

  private final Console console;

  @Option(
      names = "--selector",
      paramLabel = "NAME[,NAME]",
      defaultValue = "predictive,polled,approximate,round_robin",
      order = 1,
      description = "Who is compared (default: ${DEFAULT-VALUE}).")
  private String selectors;

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
      names = "--instances",
      paramLabel = "N",
      defaultValue = "8",
      order = 7,
      description = "Instances, of one rank each (default: ${DEFAULT-VALUE}).")
  private String instances;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N",
      defaultValue = "1048576",
      order = 8,
      description = "Tokens of KV that an instance's pool holds (default: ${DEFAULT-VALUE}).")
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
          "Modelled time from a change of an instance's blocks to when a selector knows"
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
          "approximate: modelled time for which a placed prefix counts as held"
              + " (default: ${DEFAULT-VALUE}).")
  private String routerTtlSecs;

  @Option(
      names = "--router-predicted-ttl-secs",
      paramLabel = "X",
      defaultValue = "2",
      order = 14,
      description =
          "predictive: modelled time for which a placed prefix counts as held before there is an"
              + " event; 0 for not at all (default: ${DEFAULT-VALUE}).")
  private String routerPredictedTtlSecs;

  @Option(
      names = "--kv-overlap-score-weight",
      paramLabel = "X",
      defaultValue = "1",
      order = 15,
      description =
          "predictive, approximate: weight of prompt blocks to compute against active blocks"
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
  private record Load(int requests, int concurrency) {}

  @Override
  public Integer call() throws Exception {
    boolean text = common.format() == CommonOptions.Format.TEXT;
    List<SelectorKind> kinds = Values.list("--selector", selectors, BenchSelectorsCommand::kind);
    List<Load> loads = loads();
    int threads =
        jobs == null
            ? Runtime.getRuntime().availableProcessors()
            : Values.integer("--jobs", jobs, 1, MOST_JOBS);
    List<SelectorCell> cells = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      SelectorComparison comparison =
          new SelectorComparison(prompts(), instance(), selection(), seeds(), pool);
      if (text) {
        console.print(SelectorTable.head());
      }
      for (PrefixedPrompts.Lengths lengths : PrefixedPrompts.Lengths.values()) {
        for (Load load : loads) {
          SelectorCell cell =
              comparison.compare(lengths, load.requests(), load.concurrency(), kinds);
          cells.add(cell);
          if (text) {
            console.print(SelectorTable.rows(cell));
          }
        }
      }
      if (!text) {
        console.write(stream -> SelectorJson.write(comparison, cells, stream));
      }
    } finally {
      pool.shutdownNow();
    }
    return ExitCode.DONE;
  }

  private List<Load> loads() {
    int looped = Values.integer("--requests", requests, 1, MOST_REQUESTS);
    List<Load> loads =
        Values.list(
            "--concurrency",
            concurrencies,
            part -> new Load(looped, Values.integer("--concurrency", part, 1, MOST_REQUESTS)));
    int atOnce = Values.integer("--burst", burst, 0, MOST_REQUESTS);
    if (atOnce > 0) {
      loads.add(new Load(atOnce, atOnce));
    }
    return loads;
  }

  private PrefixedPrompts prompts() {
    return new PrefixedPrompts(
        Values.integer("--prefixes", prefixes, 1, MOST_REQUESTS),
        Values.integer("--input-tokens", inputTokens, 2, MOST_TOKENS),
        Values.integer("--output-tokens", outputTokens, 2, MOST_TOKENS));
  }

  private ReplaySettings instance() {
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

  private SelectorSettings selection() {
    return new SelectorSettings(
        SelectorKind.PREDICTIVE,
        Values.integer("--instances", instances, 1, MOST_INSTANCES),
        ns("--event-delay-ms", eventDelayMs, 0),
        ns("--metric-delay-ms", metricDelayMs, 0),
        ns("--metric-interval-ms", metricIntervalMs, LEAST_INTERVAL_MS),
        secondsToMs("--router-ttl-secs", routerTtlSecs, LEAST_TTL_SECONDS),
        secondsToMs("--router-predicted-ttl-secs", routerPredictedTtlSecs, 0),
        CostOptions.DEFAULT.withOverlapScoreWeight(
            Values.number(
                "--kv-overlap-score-weight", overlapScoreWeight, 0, MOST_OVERLAP_SCORE_WEIGHT)));
  }

  private static long ns(String option, String milliseconds, double least) {
    return Math.round(Values.number(option, milliseconds, least, MOST_DELAY_MS) * NS_PER_MS);
  }

  private static long secondsToMs(String option, String seconds, double least) {
    return Math.round(Values.number(option, seconds, least, MOST_TTL_SECONDS) * MS_PER_S);
  }

  private List<Long> seeds() {
    List<Long> all = Values.list("--seeds", seeds, text -> Values.seed("--seeds", text));
    if (all.size() > Estimate.MOST_VALUES) {
      throw new UsageException("--seeds", "must be " + Estimate.MOST_VALUES + " at most");
    }
    return all;
  }

  private static SelectorKind kind(String name) {
    return Values.choice("--selector", name, List.of(SelectorKind.values()), SelectorKind::id);
  }
}
