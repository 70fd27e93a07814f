package io.kvasir.fleet.index;

/**
 * How long and how much an {@link ApproximateIndex} believes. Immutable.
 *
 * @param ttlMs how long a block is believed to be held after it was last used, in milliseconds, at
 *     least 1
 * @param maxBlocks most blocks of all ranks together, at least 1
 * @param pruneRatio what part of {@code maxBlocks} is left when there are more, above 0 and at most
 *     1
 */
public record ApproximateOptions(long ttlMs, int maxBlocks, double pruneRatio) {

  /** Instead of events: two minutes, 1,048,576 blocks, pruned to 80 percent. */
  public static final ApproximateOptions DEFAULT = new ApproximateOptions(120_000, 1 << 20, 0.8);

  /** Beside events, until they come: two seconds. */
  public static final ApproximateOptions PREDICTED = DEFAULT.withTtlMs(2_000);

  private static final long MOST_MS = 1L << 40;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if one is left
   */
  public ApproximateOptions {
    if (ttlMs < 1 || ttlMs > MOST_MS) {
      throw new IllegalArgumentException("ttlMs must be from 1 to " + MOST_MS + ", not " + ttlMs);
    }
    if (maxBlocks < 1) {
      throw new IllegalArgumentException("maxBlocks must be at least 1, not " + maxBlocks);
    }
    if (!(pruneRatio > 0 && pruneRatio <= 1)) {
      throw new IllegalArgumentException(
          "pruneRatio must be above 0 and at most 1, not " + pruneRatio);
    }
  }

  /**
   * The same with another time.
   *
   * @param ms how long a block is believed to be held, from 1 on
   * @return new options
   * @throws IllegalArgumentException if it is out of range
   */
  public ApproximateOptions withTtlMs(long ms) {
    return new ApproximateOptions(ms, maxBlocks, pruneRatio);
  }

  /**
   * The same with another bound.
   *
   * @param blocks most blocks, from 1 on
   * @return new options
   * @throws IllegalArgumentException if it is out of range
   */
  public ApproximateOptions withMaxBlocks(int blocks) {
    return new ApproximateOptions(ttlMs, blocks, pruneRatio);
  }
}
