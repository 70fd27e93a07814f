package io.kvasir.cli.option;

import io.kvasir.benchmarks.index.Corpus;
import io.kvasir.benchmarks.index.CorpusGenerator;
import io.kvasir.benchmarks.index.CorpusReader;
import io.kvasir.benchmarks.index.CorpusShape;
import io.kvasir.benchmarks.index.InvalidCorpusException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ProgressBar;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** Options that say which queries and block events indexes are measured on. */
public final class CorpusOptions {

  private static final int TRACE_BLOCK_TOKENS = 512;
  private static final String PER_RANK = "per-rank";
  private static final String SHARED = "shared";

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

  /** Loads the corpus; makes it first if it is missing. */
  public Corpus load(Console console) throws IOException {
    CorpusShape shape = shape();
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
        generate(rows, shape, temporary, console);
        return CorpusReader.read(temporary);
      } finally {
        Files.deleteIfExists(temporary);
      }
    }
    Path file = path("--corpus", corpus);
    if (!Files.exists(file)) {
      generate(rows, shape, file, console);
    }
    String wanted = CorpusGenerator.describe(rows, shape);
    String found = CorpusReader.describe(file);
    if (!wanted.equals(found)) {
      throw new InvalidCorpusException(
          file + ": was made of " + found + ", not " + wanted + "; remove it or name another one");
    }
    return CorpusReader.read(file);
  }

  private static void generate(Trace rows, CorpusShape shape, Path file, Console console)
      throws IOException {
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

  private CorpusShape shape() {
    return new CorpusShape(
        Values.integer("--workers", workers, 1, CorpusShape.MOST_WORKERS),
        Values.integer("--duplicate", duplicate, 1, CorpusShape.MOST_COPIES),
        Values.integer("--length-factor", lengthFactor, 1, CorpusShape.MOST_COPIES),
        Values.integer("--pool-blocks", poolBlocks, 1, CorpusShape.MOST_POOL_BLOCKS),
        Values.choice("--handles", handles, List.of(PER_RANK, SHARED), name -> name).equals(SHARED),
        seed());
  }

  /** Seed of whatever is random. */
  public long seed() {
    return Values.seed("--seed", seed);
  }
}
