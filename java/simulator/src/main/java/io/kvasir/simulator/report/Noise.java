package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Estimate;

/** Says which differences are too small to mean anything. Stateless. */
final class Noise {

  /** Figures that differ by at most this share of the larger one are alike. */
  private static final double SHARE = 0.01;

  private Noise() {}

  /** Whether two figures differ by at most 1 %. */
  static boolean covers(double one, double other) {
    return Math.abs(one - other) <= SHARE * Math.max(Math.abs(one), Math.abs(other));
  }

  /** Whether two means differ by at most 1 %, or have intervals that overlap. */
  static boolean covers(Estimate one, Estimate other) {
    return covers(one.mean(), other.mean())
        || Math.abs(one.mean() - other.mean()) <= one.halfWidth() + other.halfWidth();
  }
}
