package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class LeastSquaresTest {

  private static final int SIZE = 3;
  private static final double PRIOR_WEIGHT = 4;

  /** Without forgetting, the recursion is ridge regression towards 1: the normal equations. */
  @Test
  void isTheSolutionOfTheNormalEquations() {
    for (long seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      LeastSquares fit = new LeastSquares(new double[] {1, 1, 1}, PRIOR_WEIGHT, 1);
      double[][] matrix = new double[SIZE][SIZE + 1];
      for (int i = 0; i < SIZE; i++) {
        matrix[i][i] = PRIOR_WEIGHT;
        matrix[i][SIZE] = PRIOR_WEIGHT;
      }
      for (int n = 0; n < 50; n++) {
        double[] shares = {random.nextDouble(), random.nextDouble(), random.nextDouble()};
        double value = shares[0] + 2 * shares[1] + 3 * shares[2] + random.nextGaussian() / 10;
        fit.learn(shares, value, 1);
        for (int i = 0; i < SIZE; i++) {
          for (int j = 0; j < SIZE; j++) {
            matrix[i][j] += shares[i] * shares[j];
          }
          matrix[i][SIZE] += shares[i] * value;
        }
      }
      double[] expected = solve(matrix);
      for (int i = 0; i < SIZE; i++) {
        assertThat(fit.coefficient(i)).as("seed " + seed).isCloseTo(expected[i], within(1e-9));
      }
    }
  }

  @Test
  void followsAChangeAndKeepsWhatNothingExcites() {
    LeastSquares fit = new LeastSquares(new double[] {1, 1}, PRIOR_WEIGHT, 0.99);
    for (int i = 0; i < 2_000; i++) {
      fit.learn(new double[] {0, 1}, 3, 1);
    }
    for (int i = 0; i < 100_000; i++) {
      fit.learn(new double[] {1, 0}, 2, 1);
    }
    assertThat(fit.coefficient(0)).isCloseTo(2, within(1e-6));
    assertThat(fit.coefficient(1)).isCloseTo(3, within(0.01));
    for (int i = 0; i < 500; i++) {
      fit.learn(new double[] {1, 0}, 4, 1);
    }
    assertThat(fit.coefficient(0)).isCloseTo(4, within(0.05));
    fit.learn(new double[] {0, 1}, 30, 1);
    assertThat(fit.coefficient(1)).as("old evidence has not faded").isBetween(3.0, 4.0);
  }

  @Test
  void coefficientsDoNotFallBelowZero() {
    LeastSquares fit = new LeastSquares(new double[] {1, 1}, PRIOR_WEIGHT, 1);
    for (int i = 0; i < 100; i++) {
      fit.learn(new double[] {1, 0.1}, -5, 1);
    }
    assertThat(fit.coefficient(0)).isZero();
    assertThat(fit.coefficient(1)).isNotNegative();
  }

  /** Gaussian elimination without pivots; the matrix is positive definite. */
  private static double[] solve(double[][] matrix) {
    int size = matrix.length;
    for (int i = 0; i < size; i++) {
      for (int row = i + 1; row < size; row++) {
        double factor = matrix[row][i] / matrix[i][i];
        for (int j = i; j <= size; j++) {
          matrix[row][j] -= factor * matrix[i][j];
        }
      }
    }
    double[] solution = new double[size];
    for (int i = size - 1; i >= 0; i--) {
      double rest = matrix[i][size];
      for (int j = i + 1; j < size; j++) {
        rest -= matrix[i][j] * solution[j];
      }
      solution[i] = rest / matrix[i][i];
    }
    return solution;
  }
}
