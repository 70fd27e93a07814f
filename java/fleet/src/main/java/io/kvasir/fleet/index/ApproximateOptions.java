package io.kvasir.fleet.index;

import io.kvasir.model.Checks;

/**
 * Lifetime and number of blocks in an {@link ApproximateIndex}. Immutable.
 *
 * @param ttlMs how long a block is assumed held after its last use, in milliseconds, at least 1
 * @param maxBlocks most blocks over all ranks, at least 1
 * @param pruneRatio fraction of {@code maxBlocks} kept when the bound is exceeded, above 0 and at
 *     most 1
 */
public record ApproximateOptions(long ttlMs, int maxBlocks, double pruneRatio) {

  /** For engines without events: two minutes, 1,048,576 blocks, pruned to 80 percent. */
  public static final ApproximateOptions DEFAULT = new ApproximateOptions(120_000, 1 << 20, 0.8);

  /**
   * For texts: pruned by one percent at a time, because the thread that places a request waits for
   * it.
   */
  public static final ApproximateOptions TEXTS = new ApproximateOptions(600_000, 1 << 20, 0.99);

  /** To bridge the time until events arrive: two seconds. */
  public static final ApproximateOptions PREDICTED = DEFAULT.withTtlMs(2_000);

  private static final long MAX_MS = 1L << 40;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a value is out of range
   */
  public ApproximateOptions {
    if (ttlMs < 1 || ttlMs > MAX_MS) {
      throw new IllegalArgumentException("ttlMs must be from 1 to " + MAX_MS + ", not " + ttlMs);
    }
    Checks.atLeast("maxBlocks", maxBlocks, 1);
    if (!(pruneRatio > 0 && pruneRatio <= 1)) {
      throw new IllegalArgumentException(
          "pruneRatio must be above 0 and at most 1, not " + pruneRatio);
    }
  }

  /**
   * The same options with another lifetime.
   *
   * @param ms how long a block is assumed held, at least 1
   * @return new options
   * @throws IllegalArgumentException if it is out of range
   */
  public ApproximateOptions withTtlMs(long ms) {
    return new ApproximateOptions(ms, maxBlocks, pruneRatio);
  }

  /**
   * The same options with another bound.
   *
   * @param blocks most blocks, at least 1
   * @return new options
   * @throws IllegalArgumentException if it is out of range
   */
  public ApproximateOptions withMaxBlocks(int blocks) {
    return new ApproximateOptions(ttlMs, blocks, pruneRatio);
  }
}
