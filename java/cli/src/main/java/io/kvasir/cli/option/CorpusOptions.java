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
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Mixin;

/** Options of the queries and block events that indexes are measured on. */
public final class CorpusOptions extends DeclaredOptions {

  static final String PER_RANK = "per-rank";
  static final String SHARED = "shared";

  private final Declared<Path> trace = path("--trace").help(1, "Mooncake trace.");

  @Mixin private TraceOptions traceOptions;

  private final Declared<Integer> workers =
      integer("--workers", "128", 1, CorpusShape.MAX_WORKERS)
          .help(2, "Number of ranks that share the requests");

  private final Declared<Integer> duplicate =
      integer("--duplicate", "20", 1, CorpusShape.MAX_COPIES)
          .help(3, "Copies of the trace, each with its own ids");

  private final Declared<Integer> lengthFactor =
      integer("--length-factor", "4", 1, CorpusShape.MAX_COPIES)
          .help(4, "Blocks for each id of the trace");

  private final Declared<Integer> poolBlocks =
      integer("--pool-blocks", "16384", 1, CorpusShape.MAX_POOL_BLOCKS)
          .help(5, "Blocks in the pool of each worker");

  private final Declared<String> handles =
      choice("--handles", PER_RANK, List.of(PER_RANK, SHARED), name -> name)
          .label(PER_RANK + "|" + SHARED)
          .candidates(Choices.Handles.class)
          .help(6, "Handles of blocks: different on each rank, or shared");

  private final Declared<Long> seed =
      seed("--seed", "42").help(7, "Seed of the partition and the handles");

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
    if (!trace.isGiven()) {
      throw new UsageException("--trace", "must be given");
    }
    Trace rows = TraceReader.read(trace.value(), traceOptions.reading());
    try (ProgressBar progress = new ProgressBar("corpus", console)) {
      return CorpusGenerator.generate(
          rows, shape, (done, planned) -> progress.at(done, done, planned, 0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("--trace", Errors.reason(e));
    }
  }

  private CorpusShape shape() {
    return new CorpusShape(
        workers.value(),
        duplicate.value(),
        lengthFactor.value(),
        poolBlocks.value(),
        handles.value().equals(SHARED),
        seed());
  }

  /**
   * {@return the seed of everything random}
   *
   * @throws UsageException if it is not an integer
   */
  public long seed() {
    return seed.value();
  }
}
