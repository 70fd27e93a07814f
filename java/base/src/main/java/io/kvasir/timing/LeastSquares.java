package io.kvasir.timing;

/**
 * Recursive least squares for a few coefficients. Old observations fade only in directions in which
 * there are new ones (Kulhavy's directional forgetting), so coefficients that nothing has excited
 * for long keep their values and the covariance stays bounded.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal coefficients on all machines.
 */
final class LeastSquares {

  private final double forgetting;
  private final double[] coefficients;
  private final double[][] covariance;

  /**
   * Begins.
   *
   * @param first the coefficients before any observation
   * @param priorWeight observations of variance 1, each of a single coefficient, that these are
   *     worth
   * @param forgetting what an observation leaves of the weight of those before it, above 0, at most
   *     1
   */
  LeastSquares(double[] first, double priorWeight, double forgetting) {
    int size = first.length;
    this.forgetting = forgetting;
    this.coefficients = first.clone();
    this.covariance = new double[size][size];
    for (int i = 0; i < size; i++) {
      covariance[i][i] = 1 / priorWeight;
    }
  }

  double coefficient(int i) {
    return coefficients[i];
  }

  /** Multiplies all coefficients. */
  void scale(double factor) {
    for (int i = 0; i < coefficients.length; i++) {
      coefficients[i] *= factor;
    }
  }

  /**
   * How uncertain a sum of coefficients times factors is. O(size squared).
   *
   * @param shares the factors of the coefficients; not modified
   * @return its variance
   */
  double variance(double[] shares) {
    double variance = 0;
    for (int i = 0; i < coefficients.length; i++) {
      double sum = 0;
      for (int j = 0; j < coefficients.length; j++) {
        sum += covariance[i][j] * shares[j];
      }
      variance += sum * shares[i];
    }
    return variance;
  }

  /**
   * Learns from one observation. Coefficients do not fall below 0. O(size squared).
   *
   * @param shares the factors of the coefficients; not modified
   * @param value the observed sum of coefficients times factors
   * @param noise variance of the observation, in the unit of all variances
   */
  void learn(double[] shares, double value, double noise) {
    int size = coefficients.length;
    double[] gain = new double[size];
    double predicted = 0;
    double spread = 0;
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        gain[i] += covariance[i][j] * shares[j];
      }
      predicted += coefficients[i] * shares[i];
      spread += gain[i] * shares[i];
    }
    if (!(spread > 0)) {
      return;
    }
    double weight = (forgetting - (1 - forgetting) * noise / spread) / noise;
    double shrink = weight == 0 ? 0 : 1 / (1 / weight + spread);
    for (int i = 0; i < size; i++) {
      double change = gain[i] * (value - predicted) / (noise + spread);
      coefficients[i] = Math.max(0, coefficients[i] + change);
      for (int j = 0; j < size; j++) {
        covariance[i][j] -= shrink * gain[i] * gain[j];
      }
    }
  }
}
