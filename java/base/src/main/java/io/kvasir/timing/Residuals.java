package io.kvasir.timing;

/**
 * The residuals of one kind of steps: their typical size, and whether those of one sign add up.
 * Prompts and decode steps have one each, because a constant batch decodes with little noise, next
 * to which the first prompts of an unknown engine would look like outliers.
 *
 * <p>Not thread-safe.
 */
final class Residuals {

  /** A residual beyond this many typical ones counts as that many. */
  private static final double MOST_DEVIATIONS = 2.5;

  private static final double STEP = 1.0 / 64;
  private static final double RECENT_STEP = 1.0 / 4;

  /** The typical size before any observation. */
  static final double FIRST_DEVIATION = 0.3;

  /** Without noise, a change would look like hundreds of outliers. */
  private static final double LEAST_DEVIATION = 0.01;

  /** Beyond it, true times after false ones would be learned slowly. */
  private static final double MOST_DEVIATION = 1;

  private final ChangeAlarm alarm = new ChangeAlarm();
  private final OutlierGate gate = new OutlierGate();
  private double deviation = FIRST_DEVIATION;
  private double recent;

  /** The typical size. */
  double deviation() {
    return deviation;
  }

  /** Which observations are learned from, of an engine without ranks. */
  OutlierGate gate() {
    return gate;
  }

  /** The mean of the last few. */
  double recent() {
    return recent;
  }

  /** {@return a residual within what it counts as at most} */
  double limit(double residual) {
    double most = MOST_DEVIATIONS * deviation;
    return Math.max(-most, Math.min(most, residual));
  }

  /** Limits a residual, and learns its typical size. */
  double keep(double residual) {
    recent += (residual - recent) * RECENT_STEP;
    double kept = limit(residual);
    deviation += (Math.abs(kept) * 1.4826 - deviation) * STEP;
    deviation = Math.max(LEAST_DEVIATION, Math.min(MOST_DEVIATION, deviation));
    return kept;
  }

  /** Whether, with this kept residual, those of one sign have added up to a change. */
  boolean haveChanged(double kept) {
    return alarm.add(kept / deviation);
  }

  /** Begins again with the first typical size. */
  void reset() {
    deviation = FIRST_DEVIATION;
    recent = 0;
  }
}
