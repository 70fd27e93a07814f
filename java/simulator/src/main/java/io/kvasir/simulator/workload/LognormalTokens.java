package io.kvasir.simulator.workload;

import io.kvasir.model.Checks;
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
    Checks.atLeast("median", median, 1);
    Checks.finiteAtLeast0("sigma", sigma);
  }

  int draw(SeededRandom random) {
    double tokens = median * StrictMath.exp(sigma * random.nextGaussian());
    return (int) Math.max(1, Math.min(Trace.MAX_TOKENS, Math.round(tokens)));
  }
}
