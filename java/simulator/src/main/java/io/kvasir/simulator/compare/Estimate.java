package io.kvasir.simulator.compare;

import java.util.Arrays;

/**
 * A mean over several seeds with its confidence interval.
 *
 * <p>Immutable.
 *
 * @param mean the mean
 * @param halfWidth half of its 95 % interval (Student's t); NaN for a single value
 */
public record Estimate(double mean, double halfWidth) {

  /** Quantiles 0.975 of Student's t for 1 to 9 degrees of freedom. */
  private static final double[] QUANTILES = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262
  };

  /** Most values that {@link #of} accepts. */
  public static final int MAX_VALUES = QUANTILES.length + 1;

  /**
   * Estimates a mean.
   *
   * @param values one value for each seed, 1 to {@link #MAX_VALUES}
   * @return mean and interval
   * @throws IllegalArgumentException if there are too few or too many values
   */
  public static Estimate of(double... values) {
    int count = values.length;
    if (count < 1 || count > MAX_VALUES) {
      throw new IllegalArgumentException(
          "there must be 1 to " + MAX_VALUES + " values, not " + count);
    }
    double mean = Arrays.stream(values).sum() / count;
    if (count == 1) {
      return new Estimate(mean, Double.NaN);
    }
    double squares = Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum();
    double deviation = Math.sqrt(squares / (count - 1));
    return new Estimate(mean, QUANTILES[count - 2] * deviation / Math.sqrt(count));
  }

  /**
   * Whether another mean is not above the upper end of this one's interval.
   *
   * @param other the other mean
   * @return false also if there is no interval and the other mean is larger
   */
  public boolean covers(double other) {
    return other <= mean || other <= mean + halfWidth;
  }
}
