package io.kvasir.fleet.router;

/**
 * The times that a request asks for, in milliseconds; infinite where it asks for none. Immutable.
 *
 * @param ttftMs arrival to first token, above 0
 * @param tpotMs mean time between its tokens, above 0
 */
public record LatencyTargets(double ttftMs, double tpotMs) {

  /** Any time will do. */
  public static final LatencyTargets NONE =
      new LatencyTargets(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

  private static final double LEAST_MS = 1e-3;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the time that is not above 0
   */
  public LatencyTargets {
    requirePositive("ttftMs", ttftMs);
    requirePositive("tpotMs", tpotMs);
  }

  private static void requirePositive(String name, double ms) {
    if (!(ms > 0)) {
      throw new IllegalArgumentException(name + " must be above 0, not " + ms);
    }
  }

  /** {@return whether any time will do} */
  public boolean isNone() {
    return ttftMs == Double.POSITIVE_INFINITY && tpotMs == Double.POSITIVE_INFINITY;
  }

  /**
   * The targets of a request that has waited.
   *
   * @param ms the time since it arrived, in milliseconds
   * @return the times that are left, at least 0.001 ms
   */
  public LatencyTargets after(double ms) {
    return isNone() ? NONE : new LatencyTargets(Math.max(LEAST_MS, ttftMs - ms), tpotMs);
  }
}
