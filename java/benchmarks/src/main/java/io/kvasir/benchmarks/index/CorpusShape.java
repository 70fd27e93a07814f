package io.kvasir.benchmarks.index;

import io.kvasir.model.Checks;
import java.util.Locale;

/**
 * How a trace is turned into queries and block events. Immutable.
 *
 * @param workers ranks over which the requests are distributed at random, 1 to {@link #MAX_WORKERS}
 * @param duplicate copies of the trace with distinct ids, at the same times
 * @param lengthFactor number of consecutive ids that replace one id of the trace
 * @param poolBlocks blocks of each worker's pool
 * @param sharedHandles whether all workers use the same handles for equal blocks; otherwise handles
 *     are random and differ between workers
 * @param seed of the partition and of the handles
 */
public record CorpusShape(
    int workers,
    int duplicate,
    int lengthFactor,
    int poolBlocks,
    boolean sharedHandles,
    long seed) {

  /** Most workers of a corpus. */
  public static final int MAX_WORKERS = 1 << 16;

  /** Maximum of {@code duplicate} and of {@code lengthFactor}. */
  public static final int MAX_COPIES = 1000;

  /** Largest pool of a worker, in blocks. */
  public static final int MAX_POOL_BLOCKS = 1 << 24;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public CorpusShape {
    Checks.within("workers", workers, 1, MAX_WORKERS);
    Checks.within("duplicate", duplicate, 1, MAX_COPIES);
    Checks.within("lengthFactor", lengthFactor, 1, MAX_COPIES);
    Checks.within("poolBlocks", poolBlocks, 1, MAX_POOL_BLOCKS);
  }

  /**
   * Describes how a corpus of this shape is generated.
   *
   * @param trace the trace's file; only its name is used
   * @param rows the trace's requests
   * @return one line
   */
  String describe(String trace, int rows) {
    return String.format(
        Locale.ROOT,
        "%s, %d rows; %d workers, %d copies, length factor %d, pools of %d blocks, %s handles,"
            + " seed %d",
        trace.substring(trace.lastIndexOf('/') + 1),
        rows,
        workers,
        duplicate,
        lengthFactor,
        poolBlocks,
        sharedHandles ? "shared" : "per-rank",
        seed);
  }
}
