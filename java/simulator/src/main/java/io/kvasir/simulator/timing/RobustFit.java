package io.kvasir.simulator.timing;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Fits y = w . x by least squares of the relative error. Samples with a large error, such as those
 * of requests that had to wait, count less (Huber's weights). A condition on w is met by leaving
 * columns out: of the subsets of columns whose solution meets it, the one with the least error is
 * taken. For at most a handful of columns. O(rounds x 2^columns + rounds x samples x columns^2).
 */
final class RobustFit {

  private static final int ROUNDS = 30;
  private static final double HUBER = 1.5;
  private static final double MAD_TO_SIGMA = 1.4826;
  private static final double LEAST_SIGMA = 1e-9;

  private final double[][] x;
  private final double[] y;
  private final double[] weights;
  private double[] solution;

  /**
   * Fits.
   *
   * @param x [samples][columns]
   * @param y [samples], each above 0
   * @param allowed the condition; met by all zeros
   */
  RobustFit(double[][] x, double[] y, Predicate<double[]> allowed) {
    this.x = x;
    this.y = y;
    this.weights = new double[y.length];
    for (int i = 0; i < y.length; i++) {
      weights[i] = 1 / (y[i] * y[i]);
    }
    this.solution = best(allowed);
    for (int round = 0; round < ROUNDS; round++) {
      reweight();
      solution = best(allowed);
    }
  }

  /** {@return w} */
  double[] solution() {
    return solution;
  }

  /** {@return the sample's fitted value} */
  double fitted(int sample) {
    double sum = 0;
    for (int j = 0; j < solution.length; j++) {
      sum += solution[j] * x[sample][j];
    }
    return sum;
  }

  /** {@return |fitted - y| / y of each sample} */
  double[] relativeErrors() {
    double[] errors = new double[y.length];
    for (int i = 0; i < errors.length; i++) {
      errors[i] = Math.abs(fitted(i) - y[i]) / y[i];
    }
    return errors;
  }

  /** {@return a percentile of {@link #relativeErrors}} */
  double relativeError(double percentile) {
    return percentile(relativeErrors(), percentile);
  }

  /** {@return the mean of {@link #relativeErrors} without the largest ones, a twentieth} */
  double meanError() {
    double[] errors = relativeErrors();
    Arrays.sort(errors);
    int kept = errors.length - errors.length / 20;
    return Arrays.stream(errors, 0, kept).average().orElse(0);
  }

  /** {@return a percentile of values, at least one} */
  static double percentile(double[] values, double percentile) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) Math.min(sorted.length - 1L, Math.round(percentile * sorted.length))];
  }

  private void reweight() {
    double sigma = Math.max(LEAST_SIGMA, MAD_TO_SIGMA * relativeError(0.5));
    for (int i = 0; i < y.length; i++) {
      double error = Math.abs(fitted(i) - y[i]) / y[i];
      double huber = error <= HUBER * sigma ? 1 : HUBER * sigma / error;
      weights[i] = huber / (y[i] * y[i]);
    }
  }

  private double[] best(Predicate<double[]> allowed) {
    int columns = x[0].length;
    double[][] gram = new double[columns][columns];
    double[] right = new double[columns];
    for (int i = 0; i < y.length; i++) {
      for (int j = 0; j < columns; j++) {
        right[j] += weights[i] * x[i][j] * y[i];
        for (int k = 0; k < columns; k++) {
          gram[j][k] += weights[i] * x[i][j] * x[i][k];
        }
      }
    }
    double[] best = new double[columns];
    double bestGain = 0;
    for (int subset = 1; subset < 1 << columns; subset++) {
      double[] candidate = solve(gram, right, subset);
      // the explained part of the weighted sum of squares: 2 w.r - w.G.w
      double gain = 0;
      for (int j = 0; j < columns; j++) {
        gain += 2 * candidate[j] * right[j];
        for (int k = 0; k < columns; k++) {
          gain -= candidate[j] * gram[j][k] * candidate[k];
        }
      }
      if (gain > bestGain && allowed.test(candidate)) {
        best = candidate;
        bestGain = gain;
      }
    }
    return best;
  }

  /** Solves the normal equations of a subset of columns; all zeros if they are singular. */
  private static double[] solve(double[][] gram, double[] right, int subset) {
    int all = right.length;
    int[] columns = new int[Integer.bitCount(subset)];
    int count = 0;
    for (int j = 0; j < all; j++) {
      if ((subset & 1 << j) != 0) {
        columns[count++] = j;
      }
    }
    double[][] rows = new double[count][count + 1];
    for (int j = 0; j < count; j++) {
      double scale = scale(gram, columns[j]);
      for (int k = 0; k < count; k++) {
        rows[j][k] = gram[columns[j]][columns[k]] / scale / scale(gram, columns[k]);
      }
      rows[j][count] = right[columns[j]] / scale;
    }
    double[] solution = new double[all];
    if (!eliminate(rows)) {
      return solution;
    }
    for (int j = 0; j < count; j++) {
      solution[columns[j]] = rows[j][count] / scale(gram, columns[j]);
    }
    return solution;
  }

  private static double scale(double[][] gram, int column) {
    return Math.sqrt(gram[column][column]);
  }

  /** Gauss-Jordan elimination with pivots, in place; false if the matrix is singular. */
  private static boolean eliminate(double[][] rows) {
    int count = rows.length;
    for (int j = 0; j < count; j++) {
      int pivot = j;
      for (int k = j + 1; k < count; k++) {
        if (Math.abs(rows[k][j]) > Math.abs(rows[pivot][j])) {
          pivot = k;
        }
      }
      if (!(Math.abs(rows[pivot][j]) > 1e-12)) { // the columns have length 1
        return false;
      }
      double[] swapped = rows[j];
      rows[j] = rows[pivot];
      rows[pivot] = swapped;
      for (int k = 0; k < count; k++) {
        if (k != j) {
          double factor = rows[k][j] / rows[j][j];
          for (int m = j; m <= count; m++) {
            rows[k][m] -= factor * rows[j][m];
          }
        }
      }
    }
    for (int j = 0; j < count; j++) {
      rows[j][count] /= rows[j][j];
    }
    return true;
  }
}
