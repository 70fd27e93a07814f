package io.kvasir.benchmarks.proxy;

import java.util.Arrays;
import java.util.Collection;

/**
 * The values of all rounds. Immutable.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param min the lowest
 * @param max the highest
 */
record RoundSpread(double median, double min, double max) {

  /**
   * Summarises values.
   *
   * @param values the values; those that are undefined are left out
   * @return undefined numbers if there are no values
   */
  static RoundSpread of(Collection<Double> values) {
    double[] sorted =
        values.stream().mapToDouble(Double::doubleValue).filter(Double::isFinite).toArray();
    Arrays.sort(sorted);
    int count = sorted.length;
    if (count == 0) {
      return new RoundSpread(Double.NaN, Double.NaN, Double.NaN);
    }
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    return new RoundSpread(median, sorted[0], sorted[count - 1]);
  }
}
