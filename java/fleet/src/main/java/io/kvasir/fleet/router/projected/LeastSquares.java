package io.kvasir.fleet.router.projected;

/**
 * Recursive least squares for a few coefficients that are about 1. Old observations fade only in
 * directions in which there are new ones (Kulhavy's directional forgetting), so coefficients that
 * nothing has excited for long keep their values and the covariance stays bounded.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal coefficients on all machines.
 */
final class LeastSquares {

  private final double forgetting;
  private final double[] coefficients;
  private final double[][] covariance;

  /**
   * Begins with coefficients of 1.
   *
   * @param size number of coefficients
   * @param priorWeight observations, each of a single coefficient, that the prior is worth
   * @param forgetting what an observation leaves of the weight of those before it, above 0, at most
   *     1
   */
  LeastSquares(int size, double priorWeight, double forgetting) {
    this.forgetting = forgetting;
    this.coefficients = new double[size];
    this.covariance = new double[size][size];
    for (int i = 0; i < size; i++) {
      coefficients[i] = 1;
      covariance[i][i] = 1 / priorWeight;
    }
  }

  double coefficient(int i) {
    return coefficients[i];
  }

  /**
   * Learns from one observation. Coefficients do not fall below 0. O(size squared).
   *
   * @param shares the factors of the coefficients; not modified
   * @param value the observed sum of coefficients times factors
   */
  void learn(double[] shares, double value) {
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
    double weight = forgetting - (1 - forgetting) / spread;
    double shrink = weight == 0 ? 0 : 1 / (1 / weight + spread);
    for (int i = 0; i < size; i++) {
      coefficients[i] = Math.max(0, coefficients[i] + gain[i] * (value - predicted) / (1 + spread));
      for (int j = 0; j < size; j++) {
        covariance[i][j] -= shrink * gain[i] * gain[j];
      }
    }
  }
}
