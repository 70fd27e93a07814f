package io.kvasir.cli.command;

import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.simulator.compare.Estimate;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a comparison of routers repeats its replays, and the worker that they run on. */
final class ComparisonOptions {

  private static final int MAX_JOBS = 256;

  @Option(
      names = "--seeds",
      paramLabel = "N[,N]",
      order = 90,
      description = "Seeds, one for each repetition (default: ${DEFAULT-VALUE}).")
  private String seeds;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      order = 91,
      description = "Replays that run at the same time (default: the number of processors).")
  private @Nullable String jobs;

  /** Options with these default seeds. */
  ComparisonOptions(String seeds) {
    this.seeds = seeds;
  }

  List<Long> seeds() {
    List<Long> all = Values.list("--seeds", seeds, text -> Values.seed("--seeds", text));
    if (all.size() > Estimate.MAX_VALUES) {
      throw new UsageException("--seeds", "must have at most " + Estimate.MAX_VALUES + " values");
    }
    return all;
  }

  /** Threads for the replays; the caller shuts them down. */
  ExecutorService newPool() {
    return Executors.newFixedThreadPool(
        jobs == null
            ? Runtime.getRuntime().availableProcessors()
            : Values.integer("--jobs", jobs, 1, MAX_JOBS));
  }
}
