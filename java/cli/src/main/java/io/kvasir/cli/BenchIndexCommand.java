package io.kvasir.cli;

import io.kvasir.simulator.indexbench.Corpus;
import io.kvasir.simulator.indexbench.CorpusGenerator;
import io.kvasir.simulator.indexbench.CorpusReader;
import io.kvasir.simulator.indexbench.CorpusShape;
import io.kvasir.simulator.indexbench.IndexFigures;
import io.kvasir.simulator.indexbench.IndexKind;
import io.kvasir.simulator.indexbench.IndexMeasurement;
import io.kvasir.simulator.indexbench.InvalidCorpusException;
import io.kvasir.simulator.report.IndexBenchJson;
import io.kvasir.simulator.report.IndexBenchText;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench index}: prefix indexes on the events of our own pools. */
@Command(
    name = "index",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures prefix indexes: plays a trace into a pool for each worker, freezes queries and block"
          + " events to a file, and replays that on one thread and against deadlines. Block"
          + " operations are the blocks of queries, stored and removed events.",
      ""
    })
final class BenchIndexCommand implements Callable<Integer> {

  private static final int TRACE_BLOCK_TOKENS = 512;
  private static final int MOST_WINDOW_MS = 3_600_000;
  private static final int MOST_RUNS = 100;
  private static final long NS_PER_MS = 1_000_000;
  private static final String PER_RANK = "per-rank";
  private static final String SHARED = "shared";

  private final Console console;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "A Mooncake trace; may be left out if --corpus is there.")
  private String trace;

  @Option(
      names = "--corpus",
      paramLabel = "FILE",
      order = 2,
      description =
          "Where queries and events are kept; made of the trace if it is missing. Without it they"
              + " go to a temporary file.")
  private String corpus;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "128",
      order = 3,
      description = "Ranks that requests are dealt out to (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = "--duplicate",
      paramLabel = "N",
      defaultValue = "20",
      order = 4,
      description = "Copies of the trace, with ids of their own (default: ${DEFAULT-VALUE}).")
  private String duplicate;

  @Option(
      names = "--length-factor",
      paramLabel = "N",
      defaultValue = "4",
      order = 5,
      description = "Blocks that one id of the trace becomes (default: ${DEFAULT-VALUE}).")
  private String lengthFactor;

  @Option(
      names = "--pool-blocks",
      paramLabel = "N",
      defaultValue = "16384",
      order = 6,
      description = "Blocks of each worker's pool (default: ${DEFAULT-VALUE}).")
  private String poolBlocks;

  @Option(
      names = "--handles",
      paramLabel = PER_RANK + "|" + SHARED,
      defaultValue = PER_RANK,
      order = 7,
      description =
          "Whether each worker names blocks by random numbers of its own, or all alike (default:"
              + " ${DEFAULT-VALUE}).")
  private String handles;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "42",
      order = 8,
      description = "Seed of the partition and of the handles (default: ${DEFAULT-VALUE}).")
  private String seed;

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "3",
      order = 9,
      description =
          "How often each index replays it on one thread; the median counts (default:"
              + " ${DEFAULT-VALUE}).")
  private String runs;

  @Option(
      names = "--window-ms",
      paramLabel = "N[,N]",
      defaultValue = "12000,1000",
      order = 10,
      description =
          "Time into which the trace is pressed when it is replayed against deadlines (default:"
              + " ${DEFAULT-VALUE}).")
  private String windowMs;

  @Mixin private CommonOptions common;

  BenchIndexCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    CommonOptions.Format format = common.format();
    List<Long> windowsNs = windowsNs();
    int allRuns = Values.integer("--runs", runs, 1, MOST_RUNS);
    Corpus loaded = load(shape());
    IndexMeasurement measurement = new IndexMeasurement(loaded, allRuns, windowsNs);
    if (format == CommonOptions.Format.TEXT) {
      console.print(IndexBenchText.corpus(loaded));
    }
    List<IndexFigures> all = new ArrayList<>();
    for (IndexKind kind : IndexKind.values()) {
      console.note("measuring " + kind.id());
      all.add(measurement.measure(kind));
    }
    if (format == CommonOptions.Format.TEXT) {
      console.print(IndexBenchText.table(all));
    } else {
      console.write(stream -> IndexBenchJson.write(loaded, all, stream));
    }
    if (all.stream().anyMatch(figures -> figures.answers() != all.get(0).answers())) {
      console.note("the indexes answered differently");
      return ExitCode.FAILED;
    }
    return ExitCode.DONE;
  }

  private CorpusShape shape() {
    return new CorpusShape(
        Values.integer("--workers", workers, 1, CorpusShape.MOST_WORKERS),
        Values.integer("--duplicate", duplicate, 1, CorpusShape.MOST_COPIES),
        Values.integer("--length-factor", lengthFactor, 1, CorpusShape.MOST_COPIES),
        Values.integer("--pool-blocks", poolBlocks, 1, CorpusShape.MOST_POOL_BLOCKS),
        Values.choice("--handles", handles, List.of(PER_RANK, SHARED), name -> name).equals(SHARED),
        Values.seed("--seed", seed));
  }

  private List<Long> windowsNs() {
    List<Long> windows = new ArrayList<>();
    for (String part : windowMs.split(",", -1)) {
      windows.add(NS_PER_MS * Values.integer("--window-ms", part, 1, MOST_WINDOW_MS));
    }
    return windows;
  }

  private Corpus load(CorpusShape shape) throws IOException {
    if (trace == null) {
      if (corpus == null) {
        throw new UsageException("--trace", "is missing; so is --corpus");
      }
      return CorpusReader.read(path("--corpus", corpus));
    }
    Trace rows = TraceReader.read(path("--trace", trace), TRACE_BLOCK_TOKENS);
    if (corpus == null) {
      Path temporary = Files.createTempFile("kvasir-index-", ".corpus");
      try {
        generate(rows, shape, temporary);
        return CorpusReader.read(temporary);
      } finally {
        Files.deleteIfExists(temporary);
      }
    }
    Path file = path("--corpus", corpus);
    if (!Files.exists(file)) {
      generate(rows, shape, file);
    }
    String wanted = CorpusGenerator.describe(rows, shape);
    String found = CorpusReader.describe(file);
    if (!wanted.equals(found)) {
      throw new InvalidCorpusException(
          file + ": was made of " + found + ", not " + wanted + "; remove it or name another one");
    }
    return CorpusReader.read(file);
  }

  private void generate(Trace rows, CorpusShape shape, Path file) throws IOException {
    try (ProgressBar progress = new ProgressBar("corpus", console)) {
      CorpusGenerator.write(rows, shape, file, (done, planned) -> progress.at(done, planned, 0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("--trace", e.getMessage());
    }
  }

  private static Path path(String option, String file) {
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw new UsageException(option, "must be a path, not '" + file + "'");
    }
  }
}
