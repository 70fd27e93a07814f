package io.kvasir.fleet.router.whatif;

/** Quantiles of times to the first token, within 1 %. Not thread-safe; its memory is fixed. */
final class FirstTokenTimes {

  private static final double LEAST_MS = 0.01;
  private static final double STEP = StrictMath.log(1.02);
  private static final int STEPS = 1_200; // up to 200,000 s

  private final long[] counts = new long[STEPS];
  private long all;

  void add(double ms) {
    int step = (int) (StrictMath.log(Math.max(ms, LEAST_MS) / LEAST_MS) / STEP);
    counts[Math.min(step, STEPS - 1)]++;
    all++;
  }

  /** The time in milliseconds that a share of the times does not exceed; NaN without times. */
  double quantileMs(double share) {
    long before = 0;
    for (int step = 0; step < STEPS; step++) {
      before += counts[step];
      if (before > 0 && before >= share * all) {
        return LEAST_MS * StrictMath.exp((step + 0.5) * STEP);
      }
    }
    return Double.NaN;
  }
}
