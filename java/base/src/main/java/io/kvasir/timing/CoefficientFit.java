package io.kvasir.timing;

import java.util.Arrays;

/**
 * Recursive least squares for the logarithms of a few coefficients, from observed times. Old
 * observations fade only in directions in which there are new ones (Kulhavy's directional
 * forgetting), and coefficients without a share in the observations lose their correlation with
 * those that have one. So coefficients that nothing has excited for long keep their values, and the
 * covariance stays bounded.
 *
 * <p>A time is the sum of coefficients times features. A coefficient begins with 1, is {@code
 * exp(x)}, and stays between 1/50 and 50; or it begins with 0, is {@code exp(x) - 1}, and stays
 * between 0 and 49, unless another factor than 50 is given. Variances are those of x, in units of
 * the variance of one observation.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal coefficients on all machines.
 */
final class CoefficientFit {

  private static final double MOST_FACTOR = 50;

  private final double mostLog;
  private final double priorWeight;
  private final double scaleVariance;
  private final double forgetting;
  private final double[] offsets;
  private final double[][] firstCovariance;
  private final double[] logs;
  private final double[] coefficients;
  private final double[][] covariance;

  /* Of one observation. */
  private final double[] shares;
  private final double[] gain;

  /**
   * Begins.
   *
   * @param first the coefficients before any observation, each 0 or 1
   * @param priorWeight observations, each of a single coefficient, that these are worth
   * @param scaleVariance variance of a factor that all coefficients have in common
   * @param forgetting what an observation leaves of the weight of those before it, above 0, at most
   *     1
   */
  CoefficientFit(double[] first, double priorWeight, double scaleVariance, double forgetting) {
    this(first, priorWeight, scaleVariance, forgetting, MOST_FACTOR);
  }

  /**
   * Begins, with other bounds.
   *
   * @param mostFactor the most by which a coefficient is multiplied or divided, above 1
   */
  CoefficientFit(
      double[] first,
      double priorWeight,
      double scaleVariance,
      double forgetting,
      double mostFactor) {
    int size = first.length;
    this.mostLog = StrictMath.log(mostFactor);
    this.priorWeight = priorWeight;
    this.scaleVariance = scaleVariance;
    this.forgetting = forgetting;
    this.coefficients = first.clone();
    this.offsets = new double[size];
    this.logs = new double[size];
    this.firstCovariance = new double[size][size];
    this.covariance = new double[size][size];
    this.shares = new double[size];
    this.gain = new double[size];
    for (int i = 0; i < size; i++) {
      offsets[i] = 1 - first[i];
      for (int j = 0; j < size; j++) {
        firstCovariance[i][j] = scaleVariance * first[i] * first[j];
      }
      firstCovariance[i][i] += 1 / priorWeight;
      System.arraycopy(firstCovariance[i], 0, covariance[i], 0, size);
    }
  }

  double coefficient(int i) {
    return coefficients[i];
  }

  /** The variable x of a coefficient. */
  double log(int i) {
    return logs[i];
  }

  void setLog(int i, double log) {
    double least = offsets[i] == 0 ? -mostLog : 0;
    logs[i] = Math.max(least, Math.min(mostLog, log));
    coefficients[i] = StrictMath.exp(logs[i]) - offsets[i];
  }

  /** The part of a coefficient's first variance that is left, which may exceed 1 after a change. */
  double unknown(int i) {
    return covariance[i][i] / firstCovariance[i][i];
  }

  /**
   * The expected variable of a coefficient without observations, where others are known.
   *
   * @param i the coefficient
   * @param knownSum sum of the variables of those that are known, which all began with 1
   * @param known their number
   */
  double inferredLog(int i, double knownSum, int known) {
    double own = 1 / priorWeight;
    return offsets[i] == 0 ? scaleVariance * knownSum / (own + scaleVariance * known) : 0;
  }

  /** Multiplies a coefficient. */
  void scale(int i, double factor) {
    setLog(
        i,
        offsets[i] == 0
            ? logs[i] + StrictMath.log(factor)
            : StrictMath.log1p(coefficients[i] * factor));
  }

  /** A factor that all coefficients have in common has become less certain. */
  void widenScale(double variance) {
    for (int i = 0; i < logs.length; i++) {
      for (int j = 0; j < logs.length; j++) {
        covariance[i][j] += variance * scaling(i) * scaling(j);
      }
    }
  }

  /** Coefficients of these features have become less certain, each for itself. */
  void widen(double[] features, double variance) {
    for (int i = 0; i < logs.length; i++) {
      covariance[i][i] += features[i] == 0 ? 0 : variance * scaling(i) * scaling(i);
    }
  }

  /** The derivative of x by the logarithm of a common factor. */
  private double scaling(int i) {
    return coefficients[i] / (coefficients[i] + offsets[i]);
  }

  /** Half of what is known is forgotten. */
  void widen() {
    for (int i = 0; i < logs.length; i++) {
      for (int j = 0; j < logs.length; j++) {
        covariance[i][j] = (covariance[i][j] + firstCovariance[i][j]) / 2;
      }
    }
  }

  /** All coefficients become as uncertain as they were before any observation. */
  void forgetCertainty() {
    for (int i = 0; i < logs.length; i++) {
      System.arraycopy(firstCovariance[i], 0, covariance[i], 0, logs.length);
    }
  }

  /** Begins again. */
  void reset() {
    Arrays.fill(logs, 0);
    for (int i = 0; i < logs.length; i++) {
      coefficients[i] = 1 - offsets[i];
    }
    forgetCertainty();
  }

  /** Whether all variables and variances are finite, and no variance is negative. */
  boolean isSound() {
    double sum = 0;
    boolean negative = false;
    for (int i = 0; i < logs.length; i++) {
      sum += logs[i];
      negative |= covariance[i][i] < 0;
      for (double each : covariance[i]) {
        sum += each;
      }
    }
    return Double.isFinite(sum) && !negative;
  }

  /** The sum of coefficients times features. */
  double sum(double[] features) {
    double sum = 0;
    for (int i = 0; i < features.length; i++) {
      sum += coefficients[i] * features[i];
    }
    return sum;
  }

  /**
   * How uncertain the logarithm of an expected time is. O(size squared).
   *
   * @param features the features; not modified
   * @param expected the expected time, which is their {@link #sum}, above 0
   * @return its variance
   */
  double variance(double[] features, double expected) {
    for (int i = 0; i < logs.length; i++) {
      shares[i] = (coefficients[i] + offsets[i]) * features[i] / expected;
    }
    double variance = 0;
    for (int i = 0; i < logs.length; i++) {
      gain[i] = 0;
      for (int j = 0; j < logs.length; j++) {
        gain[i] += covariance[i][j] * shares[j];
      }
      variance += gain[i] * shares[i];
    }
    return variance;
  }

  /**
   * Learns from an observed time. O(size squared).
   *
   * @param features its features; not modified
   * @param expected the expected time, which is their {@link #sum}, above 0
   * @param residual logarithm of the observed time over the expected one
   * @param noise variance of the residual, in the unit of all variances
   */
  void learn(double[] features, double expected, double residual, double noise) {
    double spread = variance(features, expected);
    if (spread == 0) {
      return;
    }
    double weight = (forgetting - (1 - forgetting) * noise / spread) / noise;
    double shrink = weight == 0 ? 0 : 1 / (1 / weight + spread);
    for (int i = 0; i < logs.length; i++) {
      setLog(i, logs[i] + gain[i] * residual / (noise + spread));
      for (int j = 0; j < logs.length; j++) {
        covariance[i][j] -= shrink * gain[i] * gain[j];
        if ((shares[i] == 0)
            != (shares[j] == 0)) { // so that what is not seen does not follow noise
          covariance[i][j] *= forgetting;
        }
      }
    }
  }
}
