package io.kvasir.fleet.router.projected;

/**
 * The interval around an expected time into which 90 % of the actual times fall, by adaptive
 * conformal prediction (Gibbs and Candes 2021): each end moves towards the actual times that miss
 * it and, in smaller steps, back. It needs no model of the errors, and follows their changes.
 *
 * <p>Not thread-safe.
 */
final class ForecastInterval {

  /** Share of the actual times below the lower end, and of those above the upper one. */
  private static final double MISSED = 0.05;

  /** The standard normal distribution's quantile that the ends stand for. */
  private static final double QUANTILE = 1.645;

  /** The logistic curve that is closest to the normal distribution has this slope. */
  private static final double LOGISTIC = 1.702;

  private static final double LEAST_DEVIATION = 0.01;

  private static final double FIRST_ERROR = 0.3;

  /** Step after a miss, in typical errors. */
  private static final double STEP = 0.1;

  private static final double ERROR_STEP = 1.0 / 64;

  /** Larger errors, as logarithms, count as this one. */
  private static final double MOST = 10;

  private double low = -FIRST_ERROR;
  private double high = FIRST_ERROR;
  private double error = FIRST_ERROR;
  private double lowFactor = StrictMath.exp(low);
  private double highFactor = StrictMath.exp(high);

  /** The lower end over the expected time. */
  double lowFactor() {
    return lowFactor;
  }

  /** The upper end over the expected time. */
  double highFactor() {
    return highFactor;
  }

  /**
   * How likely a time is to be within a limit: errors are taken to be log-normal, and the ends to
   * be their 5 and 95 % quantiles.
   *
   * @param expected the expected time
   * @param limit the limit, in the same unit; infinite for none
   */
  double likelihood(double expected, double limit) {
    if (limit == Double.POSITIVE_INFINITY || expected <= 0) {
      return 1;
    }
    double from = Math.min(low, high);
    double middle = (low + high) / 2;
    double deviation = Math.max(LEAST_DEVIATION, (Math.max(low, high) - from) / 2 / QUANTILE);
    double z = (StrictMath.log(limit / expected) - middle) / deviation;
    return 1 / (1 + StrictMath.exp(-LOGISTIC * z));
  }

  /** Learns from an expected time, in any unit above 0, and the actual one. */
  void learn(double expected, double actual) {
    if (!(expected > 0) || !(actual > 0)) {
      return;
    }
    double off = Math.max(-MOST, Math.min(MOST, StrictMath.log(actual / expected)));
    double step = STEP * error;
    low += off < low ? -step * (1 - MISSED) : step * MISSED;
    high += off > high ? step * (1 - MISSED) : -step * MISSED;
    error += (Math.abs(off) - error) * ERROR_STEP;
    lowFactor = StrictMath.exp(Math.min(low, high));
    highFactor = StrictMath.exp(Math.max(low, high));
  }
}
