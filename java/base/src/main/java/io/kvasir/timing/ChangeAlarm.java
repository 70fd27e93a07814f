package io.kvasir.timing;

/**
 * Notices that residuals of one sign add up (a two-sided cumulative sum; Page 1954). Not
 * thread-safe.
 */
final class ChangeAlarm {

  /** Deviations that a residual may have without counting as a change, and the sum that alarms. */
  private static final double SLACK = 0.75;

  private static final double ALARM = 8;

  private double above;
  private double below;

  /**
   * Adds a residual.
   *
   * @param deviations the residual over its typical size
   * @return whether there is a change; the sums begin again then
   */
  boolean add(double deviations) {
    above = Math.max(0, above + deviations - SLACK);
    below = Math.max(0, below - deviations - SLACK);
    boolean changed = above > ALARM || below > ALARM;
    if (changed) {
      above = 0;
      below = 0;
    }
    return changed;
  }
}
