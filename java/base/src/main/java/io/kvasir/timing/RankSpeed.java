package io.kvasir.timing;

/**
 * How much longer one rank takes for the same work than the median rank: a filtered random walk of
 * the logarithm, which stays within 4 of 0. A lasting change of speed widens it, so that it is
 * followed within a few steps.
 *
 * <p>Not thread-safe.
 */
public final class RankSpeed {

  /** Variance of the logarithm before any observation. */
  static final double PRIOR_VARIANCE = 0.04;

  /** Variance that each observation adds: the random walk. */
  private static final double DRIFT = 1e-6;

  private static final double MOST_LOCATION = 4;

  private final ChangeAlarm alarm = new ChangeAlarm();
  private final OutlierGate ofPrompts = new OutlierGate();
  private final OutlierGate ofDecoding = new OutlierGate();
  private double location;
  private double variance = PRIOR_VARIANCE;
  private double factor = 1;

  /** Begins with the speed of the median rank. */
  public RankSpeed() {}

  /** {@return the time of the rank over that of the median rank} */
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

  /** Which of the rank's observations of such work are learned from. */
  OutlierGate gate(StepWork work) {
    return work.isPrefill() ? ofPrompts : ofDecoding;
  }

  /** Whether a residual of this sign can no longer move it. */
  boolean isAtBound(double residual) {
    return location * Math.signum(residual) >= MOST_LOCATION;
  }

  private void move(double newLocation) {
    location = Math.max(-MOST_LOCATION, Math.min(MOST_LOCATION, newLocation));
    factor = StrictMath.exp(location);
  }

  /**
   * Compares with another median from now on.
   *
   * @param shift what is added to the logarithm
   */
  void shift(double shift) {
    move(location + shift);
  }

  /**
   * Nothing was observed for a while, so the rank may have changed: half of what is known of it is
   * forgotten. Otherwise a rank that was slow for a time, and is avoided since, would stay avoided.
   */
  void relax() {
    move(location / 2);
    variance += (PRIOR_VARIANCE - variance) / 2;
  }

  /**
   * Learns from a residual.
   *
   * @param residual logarithm of the observed time over the predicted one
   * @param deviation its typical size
   * @param otherVariance variance of the residual that has other causes
   * @return whether the speed has changed for good, as far as the residuals show
   */
  boolean learn(double residual, double deviation, double otherVariance) {
    boolean changed = alarm.add(residual / deviation);
    if (changed) {
      variance = PRIOR_VARIANCE;
    }
    variance += DRIFT;
    double gain = variance / (variance + deviation * deviation + otherVariance);
    move(location + gain * residual);
    variance *= 1 - gain;
    return changed;
  }
}
