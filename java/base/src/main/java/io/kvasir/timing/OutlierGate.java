package io.kvasir.timing;

/**
 * Drops observations of one source that are far from what is expected, until they are the majority
 * of its recent ones. Not thread-safe.
 */
final class OutlierGate {

  /** Factor between an observed and an expected time from which on the former is an outlier. */
  private static final double FAR = StrictMath.log(20);

  private static final double MEMORY = 1.0 / 32;

  private double outliers;

  /**
   * Whether to learn from an observation.
   *
   * @param residual logarithm of the observed time over the expected one
   */
  boolean admits(double residual) {
    boolean far = !(Math.abs(residual) <= FAR);
    outliers += ((far ? 1 : 0) - outliers) * MEMORY;
    return !far || (outliers > 0.5 && Double.isFinite(residual));
  }
}
