package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;

/** Draws a hit rate relative to its upper bound, on a scale from 0 to 1. */
final class HitRateBar {

  private static final int WIDTH = 50;

  private HitRateBar() {}

  /** {@code #} up to the hit rate, {@code -} up to the upper bound. */
  static String of(ReplayResult result) {
    int reached = width(result.tokenHitRate());
    int possible = Math.max(reached, width(result.upperBoundTokenHitRate()));
    return "["
        + "#".repeat(reached)
        + "-".repeat(possible - reached)
        + " ".repeat(WIDTH - possible)
        + "]";
  }

  private static int width(double rate) {
    return Double.isFinite(rate) ? (int) Math.round(Math.min(1, rate) * WIDTH) : 0;
  }
}
