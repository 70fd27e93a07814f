package io.kvasir.gateway.route;

/**
 * When the breakers of a gateway open, and how many of them may be open. Immutable.
 *
 * @param failures failures within the window from which a breaker may open, at least 1; a failure
 *     that may be the request's fault counts half
 * @param failurePercent share of failures among the outcomes of the window from which it may open,
 *     1 to 100
 * @param windowMs the window, in milliseconds
 * @param openMs how long an open breaker lets nothing through, in milliseconds
 * @param maxEjectionPercent largest share of a fleet whose breakers may be open, 1 to 100; one
 *     worker always may
 * @param panicPercent share of a fleet that must be healthy with a closed breaker: below it,
 *     breakers are ignored; 0 to 100
 */
public record BreakerSettings(
    int failures,
    int failurePercent,
    long windowMs,
    long openMs,
    int maxEjectionPercent,
    int panicPercent) {

  private static final int FAILURE_PERCENT = 50;
  private static final int WINDOW_MS = 10_000;
  private static final int EJECTION_PERCENT = 10;
  private static final int PANIC_PERCENT = 50;

  /**
   * Settings with half of the outcomes of 10 seconds as the threshold, a tenth of the fleet as the
   * largest share, and a panic threshold of one half.
   *
   * @param failures see {@link #failures}
   * @param openMs see {@link #openMs}
   * @return the settings
   */
  public static BreakerSettings of(int failures, long openMs) {
    return new BreakerSettings(
        failures, FAILURE_PERCENT, WINDOW_MS, openMs, EJECTION_PERCENT, PANIC_PERCENT);
  }
}
