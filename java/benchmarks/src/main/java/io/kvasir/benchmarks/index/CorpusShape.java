package io.kvasir.benchmarks.index;

import java.util.Locale;

/**
 * How a trace is turned into queries and block events. Immutable.
 *
 * @param workers ranks that the requests are dealt out to at random, 1 to {@link #MOST_WORKERS}
 * @param duplicate copies of the trace with ids of their own, at the same times
 * @param lengthFactor consecutive ids that one id of the trace becomes
 * @param poolBlocks blocks of each worker's pool
 * @param sharedHandles whether all workers name equal blocks alike; otherwise each has random
 *     numbers of its own
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
  public static final int MOST_WORKERS = 1 << 16;

  /** Most copies, and most ids that one becomes. */
  public static final int MOST_COPIES = 1000;

  /** Largest pool of a worker, in blocks. */
  public static final int MOST_POOL_BLOCKS = 1 << 24;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public CorpusShape {
    inRange("workers", workers, MOST_WORKERS);
    inRange("duplicate", duplicate, MOST_COPIES);
    inRange("lengthFactor", lengthFactor, MOST_COPIES);
    inRange("poolBlocks", poolBlocks, MOST_POOL_BLOCKS);
  }

  private static void inRange(String field, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(field + " must be 1 to " + most + ", not " + value);
    }
  }

  /**
   * What a corpus of this shape is made of, as its file says it.
   *
   * @param trace the trace's file; only its name is told
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
