package io.kvasir.cli.option;

import io.kvasir.benchmarks.index.Corpus;
import io.kvasir.benchmarks.index.CorpusGenerator;
import io.kvasir.benchmarks.index.CorpusShape;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ProgressBar;
import io.kvasir.model.Errors;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the queries and block events that indexes are measured on. */
public final class CorpusOptions {

  private static final int TRACE_BLOCK_TOKENS = 512;
  static final String PER_RANK = "per-rank";
  static final String SHARED = "shared";

  @Option(names = "--trace", paramLabel = "FILE", order = 1, description = "Mooncake trace.")
  private @Nullable String trace;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "128",
      order = 2,
      description = "Number of ranks that share the requests (default: ${DEFAULT-VALUE}).")
  private String workers;

  @Option(
      names = "--duplicate",
      paramLabel = "N",
      defaultValue = "20",
      order = 3,
      description = "Copies of the trace, each with its own ids (default: ${DEFAULT-VALUE}).")
  private String duplicate;

  @Option(
      names = "--length-factor",
      paramLabel = "N",
      defaultValue = "4",
      order = 4,
      description = "Blocks for each id of the trace (default: ${DEFAULT-VALUE}).")
  private String lengthFactor;

  @Option(
      names = "--pool-blocks",
      paramLabel = "N",
      defaultValue = "16384",
      order = 5,
      description = "Blocks in the pool of each worker (default: ${DEFAULT-VALUE}).")
  private String poolBlocks;

  @Option(
      names = "--handles",
      paramLabel = PER_RANK + "|" + SHARED,
      completionCandidates = Choices.Handles.class,
      defaultValue = PER_RANK,
      order = 6,
      description =
          "Handles of blocks: different on each rank, or shared (default: ${DEFAULT-VALUE}).")
  private String handles;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "42",
      order = 7,
      description = "Seed of the partition and the handles (default: ${DEFAULT-VALUE}).")
  private String seed;

  CorpusOptions() {}

  /**
   * Makes the corpus.
   *
   * @param console shows the progress
   * @return the corpus
   * @throws IOException if the trace cannot be read
   * @throws UsageException if a value is not allowed
   */
  public Corpus generate(Console console) throws IOException {
    CorpusShape shape = shape();
    if (trace == null) {
      throw new UsageException("--trace", "must be given");
    }
    Trace rows = TraceReader.read(Values.path("--trace", trace), TRACE_BLOCK_TOKENS);
    try (ProgressBar progress = new ProgressBar("corpus", console)) {
      return CorpusGenerator.generate(
          rows, shape, (done, planned) -> progress.at(done, done, planned, 0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("--trace", Errors.reason(e));
    }
  }

  private CorpusShape shape() {
    return new CorpusShape(
        Values.integer("--workers", workers, 1, CorpusShape.MAX_WORKERS),
        Values.integer("--duplicate", duplicate, 1, CorpusShape.MAX_COPIES),
        Values.integer("--length-factor", lengthFactor, 1, CorpusShape.MAX_COPIES),
        Values.integer("--pool-blocks", poolBlocks, 1, CorpusShape.MAX_POOL_BLOCKS),
        Values.choice("--handles", handles, List.of(PER_RANK, SHARED), name -> name).equals(SHARED),
        seed());
  }

  /**
   * {@return the seed of everything random}
   *
   * @throws UsageException if it is not an integer
   */
  public long seed() {
    return Values.seed("--seed", seed);
  }
}
