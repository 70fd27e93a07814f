package io.kvasir.benchmarks.index;

import io.kvasir.simulator.trace.Trace;
import java.util.SplittableRandom;

/**
 * Plays a trace into one pool per worker and records the queries and the pools' events.
 *
 * <p>A request is a query, followed by the events of one pool that leases, commits and releases its
 * blocks. All ids of a row count as full blocks. Requests at the same time are all queried before
 * the first event. Stateless.
 */
public final class CorpusGenerator {

  private CorpusGenerator() {}

  /** Reports progress. */
  public interface Progress {
    /**
     * Called from time to time.
     *
     * @param done requests so far
     * @param planned requests altogether
     */
    void at(long done, long planned);
  }

  /**
   * Makes a corpus. O(blocks); takes 8 bytes for each id and about 100 for each pool block, besides
   * the corpus.
   *
   * @param trace the trace, with block ids
   * @param shape how to play it
   * @param progress is called with the progress
   * @return the corpus
   * @throws IllegalArgumentException if the trace lists no ids, too many, or rows that do not fit
   *     into a pool
   */
  public static Corpus generate(Trace trace, CorpusShape shape, Progress progress) {
    ScaledTrace scaled = new ScaledTrace(trace, shape.lengthFactor(), shape.duplicate());
    int longest = scaled.longest();
    if (longest == 0) {
      throw new IllegalArgumentException(trace.file() + " lists no block ids");
    }
    if (longest > shape.poolBlocks()) {
      throw new IllegalArgumentException(
          "poolBlocks must be at least "
              + longest
              + ", the trace's longest row, not "
              + shape.poolBlocks());
    }
    BlockContents contents = BlockContents.of(scaled.ids());
    CorpusRecorder recorder = new CorpusRecorder(shape.workers());
    try (WorkerPools pools = new WorkerPools(shape, longest, contents, recorder)) {
      new Play(scaled, shape, contents, recorder, pools).play(progress);
    }
    return new Corpus(
        shape.describe(trace.file(), trace.rows()),
        new Corpus.LocalHashing(scaled.ids(), contents.hashNs()),
        recorder);
  }

  /** One pass over the trace. */
  private record Play(
      ScaledTrace trace,
      CorpusShape shape,
      BlockContents contents,
      CorpusRecorder recorder,
      WorkerPools pools) {

    void play(Progress progress) {
      SplittableRandom partition = new SplittableRandom(shape.seed());
      long planned = (long) trace.rows() * trace.copies();
      int row = 0;
      while (row < trace.rows()) {
        int end = row + 1;
        while (end < trace.rows() && trace.arrivalNs(end) == trace.arrivalNs(row)) {
          end++;
        }
        playRows(row, end, partition);
        row = end;
        progress.at((long) row * trace.copies(), planned);
      }
    }

    /** Plays the rows of one time. */
    private void playRows(int from, int to, SplittableRandom partition) {
      int[] workers = new int[(to - from) * trace.copies()];
      for (int i = 0; i < workers.length; i++) {
        workers[i] = partition.nextInt(shape.workers());
        recorder.query(trace.arrivalNs(from), contents.local(ids(from, i)));
      }
      for (int i = 0; i < workers.length; i++) {
        pools.play(workers[i], trace.arrivalNs(from), ids(from, i));
      }
    }

    private int[] ids(int from, int i) {
      return trace.ids(from + i / trace.copies(), i % trace.copies());
    }
  }
}
