package io.kvasir.timing;

/**
 * How much longer one rank takes for the same work than the average rank: a filtered random walk of
 * the logarithm. A lasting change of speed widens it, so that it is followed within a few steps.
 *
 * <p>Not thread-safe.
 */
public final class RankSpeed {

  /** Variance of the logarithm before any observation. */
  private static final double PRIOR_VARIANCE = 0.04;

  /** Variance that each observation adds: the random walk. */
  private static final double DRIFT = 1e-5;

  /** Deviations that a residual may have without counting as a change, and the sum that alarms. */
  private static final double SLACK = 0.75;

  private static final double ALARM = 8;

  private double location;
  private double variance = PRIOR_VARIANCE;
  private double above;
  private double below;
  private double factor = 1;

  /** Begins with the speed of the average rank. */
  public RankSpeed() {}

  /** {@return the time of the rank over that of the average rank} */
  public double factor() {
    return factor;
  }

  /** The variance of {@link #location}. */
  double variance() {
    return variance;
  }

  /** {@return the logarithm of {@link #factor}} */
  public double location() {
    return location;
  }

  /** The share of {@link #location} that observations account for; the prior has the rest. */
  double known() {
    return Math.max(0, 1 - variance / PRIOR_VARIANCE);
  }

  /**
   * Compares with another average from now on.
   *
   * @param shift what is added to the logarithm
   */
  public void shift(double shift) {
    location += shift;
    factor = StrictMath.exp(location);
  }

  /**
   * Nothing was observed for a while, so the rank may have changed: half of what is known of it is
   * forgotten. Otherwise a rank that was slow for a time, and is avoided since, would stay avoided.
   */
  public void relax() {
    location /= 2;
    variance += (PRIOR_VARIANCE - variance) / 2;
    factor = StrictMath.exp(location);
  }

  /**
   * Learns from a residual.
   *
   * @param residual logarithm of the observed time over the predicted one
   * @param deviation its typical size
   * @param otherVariance variance of the residual that has other causes
   * @return whether the speed has changed for good, as far as the residuals tell
   */
  boolean learn(double residual, double deviation, double otherVariance) {
    double scaled = residual / deviation;
    above = Math.max(0, above + scaled - SLACK);
    below = Math.max(0, below - scaled - SLACK);
    boolean changed = above > ALARM || below > ALARM;
    if (changed) {
      above = 0;
      below = 0;
      variance = PRIOR_VARIANCE;
    }
    variance += DRIFT;
    double gain = variance / (variance + deviation * deviation + otherVariance);
    location += gain * residual;
    variance *= 1 - gain;
    factor = StrictMath.exp(location);
    return changed;
  }
}
