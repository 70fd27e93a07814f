package io.kvasir.cli.command;

import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.Values;
import io.kvasir.simulator.compare.Estimate;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** How a comparison of routers repeats its replays, and the worker that they run on. */
final class ComparisonOptions extends DeclaredOptions {

  private static final int MAX_JOBS = 256;

  private final Declared<List<Long>> seeds;

  private final Declared<Integer> jobs =
      integer("--jobs", null, 1, MAX_JOBS)
          .help(91, "Replays that run at the same time (default: the number of processors).");

  /** Options with these default seeds. */
  ComparisonOptions(String seeds) {
    this.seeds =
        list("--seeds", "N[,N]", seeds, text -> Values.seed("--seeds", text))
            .help(90, "Seeds, one for each repetition");
  }

  List<Long> seeds() {
    List<Long> all = seeds.value();
    if (all.size() > Estimate.MAX_VALUES) {
      throw seeds.wrong("must have at most " + Estimate.MAX_VALUES + " values");
    }
    return all;
  }

  /** Threads for the replays; the caller shuts them down. */
  ExecutorService newPool() {
    return Executors.newFixedThreadPool(
        !jobs.isGiven() ? Runtime.getRuntime().availableProcessors() : jobs.value());
  }
}
