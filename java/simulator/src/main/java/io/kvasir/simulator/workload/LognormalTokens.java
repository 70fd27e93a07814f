package io.kvasir.simulator.workload;

import io.kvasir.simulator.trace.Trace;

/**
 * A lognormal distribution of lengths in tokens, at least 1.
 *
 * <p>Immutable.
 *
 * @param median median length, at least 1
 * @param sigma standard deviation of the logarithm, at least 0; 0 makes every length the median
 */
public record LognormalTokens(int median, double sigma) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the parameter that is out of range
   */
  public LognormalTokens {
    if (median < 1) {
      throw new IllegalArgumentException("the median must be at least 1 token, not " + median);
    }
    if (!(sigma >= 0)) {
      throw new IllegalArgumentException("sigma must be at least 0, not " + sigma);
    }
  }

  int draw(SeededRandom random) {
    double tokens = median * StrictMath.exp(sigma * random.nextGaussian());
    return (int) Math.max(1, Math.min(Trace.MAX_TOKENS, Math.round(tokens)));
  }
}
