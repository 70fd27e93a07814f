package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CoefficientFitTest {

  private static final int SIZE = 3;
  private static final double PRIOR_WEIGHT = 4;
  private static final double SCALE_VARIANCE = 0.44;
  private static final double[] ONES = {1, 1, 1};

  private static final class Observation {
    final double[] features;
    final double logMs;

    Observation(double[] features, double logMs) {
      this.features = features;
      this.logMs = logMs;
    }
  }

  /** Without forgetting, the recursion finds the most likely coefficients: Gauss-Newton. */
  @Test
  void isCloseToTheMostLikelyCoefficients() {
    for (long seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      CoefficientFit fit = new CoefficientFit(ONES, PRIOR_WEIGHT, SCALE_VARIANCE, 1);
      List<Observation> observations = new ArrayList<>();
      for (int n = 0; n < 200; n++) {
        double[] features = {random.nextDouble(), random.nextDouble(), random.nextDouble()};
        double ms = 0.7 * features[0] + 1.5 * features[1] + 2 * features[2];
        double logMs = Math.log(ms) + random.nextGaussian() / 10;
        observations.add(new Observation(features, logMs));
        learn(fit, features, Math.exp(logMs));
      }
      double[] expected = mostLikely(observations);
      for (int i = 0; i < SIZE; i++) {
        assertThat(fit.log(i)).as("seed " + seed).isCloseTo(expected[i], within(0.02));
      }
    }
  }

  private static void learn(CoefficientFit fit, double[] features, double ms) {
    double expected = fit.sum(features);
    fit.learn(features, expected, Math.log(ms / expected), 1);
  }

  private static double[] mostLikely(List<Observation> observations) {
    double[] logs = new double[SIZE];
    for (int round = 0; round < 50; round++) {
      double[][] matrix = new double[SIZE][SIZE + 1];
      for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
          double common = PRIOR_WEIGHT * SCALE_VARIANCE;
          double weight = -PRIOR_WEIGHT * common / (1 + SIZE * common); // Sherman-Morrison
          weight += i == j ? PRIOR_WEIGHT : 0;
          matrix[i][j] = weight;
          matrix[i][SIZE] -= weight * logs[j];
        }
      }
      for (Observation observation : observations) {
        double[] shares = new double[SIZE];
        double ms = 0;
        for (int i = 0; i < SIZE; i++) {
          shares[i] = Math.exp(logs[i]) * observation.features[i];
          ms += shares[i];
        }
        for (int i = 0; i < SIZE; i++) {
          for (int j = 0; j < SIZE; j++) {
            matrix[i][j] += shares[i] * shares[j] / (ms * ms);
          }
          matrix[i][SIZE] += shares[i] / ms * (observation.logMs - Math.log(ms));
        }
      }
      double[] change = solve(matrix);
      for (int i = 0; i < SIZE; i++) {
        logs[i] += change[i];
      }
    }
    return logs;
  }

  @Test
  void followsAChangeAndKeepsWhatNothingExcites() {
    CoefficientFit fit = new CoefficientFit(new double[] {1, 1}, PRIOR_WEIGHT, 0, 0.99);
    for (int i = 0; i < 2_000; i++) {
      learn(fit, new double[] {0, 1}, 3);
    }
    for (int i = 0; i < 100_000; i++) {
      learn(fit, new double[] {1, 0}, 2);
    }
    assertThat(fit.coefficient(0)).isCloseTo(2, within(1e-6));
    assertThat(fit.coefficient(1)).isCloseTo(3, within(0.01));
    for (int i = 0; i < 500; i++) {
      learn(fit, new double[] {1, 0}, 4);
    }
    assertThat(fit.coefficient(0)).isCloseTo(4, within(0.05));
    learn(fit, new double[] {0, 1}, 30);
    assertThat(fit.coefficient(1)).as("old evidence has not faded").isBetween(3.0, 4.0);
  }

  @Test
  void aCommonFactorReachesCoefficientsThatAreNotSeen() {
    CoefficientFit fit = new CoefficientFit(new double[] {1, 1}, PRIOR_WEIGHT, 0, 0.99);
    for (int i = 0; i < 2_000; i++) {
      learn(fit, new double[] {1, 0}, 1);
      learn(fit, new double[] {0, 1}, 3);
    }
    fit.widenScale(100);
    learn(fit, new double[] {1, 0}, 2);
    assertThat(fit.coefficient(0)).isCloseTo(2, within(0.1));
    assertThat(fit.coefficient(1)).isCloseTo(6, within(0.3));
  }

  @Test
  void coefficientsStayWithinTheirBounds() {
    CoefficientFit fit = new CoefficientFit(new double[] {1, 0}, PRIOR_WEIGHT, 0, 0.99);
    for (int i = 0; i < 1_000; i++) {
      learn(fit, new double[] {1, 0.1}, 1e-9);
    }
    assertThat(fit.coefficient(0)).isCloseTo(0.02, within(1e-12));
    assertThat(fit.coefficient(1)).isZero();
    for (int i = 0; i < 1_000; i++) {
      learn(fit, new double[] {1, 0}, 1e9);
      learn(fit, new double[] {1e-3, 1}, 1e9);
    }
    assertThat(fit.coefficient(0)).isCloseTo(50, within(1e-9));
    assertThat(fit.coefficient(1)).isBetween(0.0, 49.000001);
    assertThat(fit.isSound()).isTrue();
  }

  @Test
  void whatIsNotFiniteIsNoticedAndResetBringsTheFirstValuesBack() {
    CoefficientFit fit = new CoefficientFit(new double[] {1, 0}, PRIOR_WEIGHT, 0, 1);
    fit.setLog(0, Double.NaN);
    assertThat(fit.isSound()).isFalse();

    fit.reset();

    assertThat(fit.isSound()).isTrue();
    assertThat(fit.coefficient(0)).isEqualTo(1);
    assertThat(fit.coefficient(1)).isZero();
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
      double sum = matrix[i][size];
      for (int j = i + 1; j < size; j++) {
        sum -= matrix[i][j] * solution[j];
      }
      solution[i] = sum / matrix[i][i];
    }
    return solution;
  }
}
