package io.kvasir.simulator.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Limits that a good request keeps, all in modelled milliseconds; infinite where there is none.
 *
 * <p>Immutable.
 *
 * @param ttftMs arrival to first token
 * @param tpotMs mean time between tokens; requests with one token keep any
 * @param e2elMs arrival to last token
 */
public record Objective(double ttftMs, double tpotMs, double e2elMs) {

  private static final double NS_PER_MS = 1e6;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the limit that is not above 0
   */
  public Objective {
    requirePositive("ttft", ttftMs);
    requirePositive("tpot", tpotMs);
    requirePositive("e2el", e2elMs);
  }

  private static void requirePositive(String name, double limitMs) {
    if (!(limitMs > 0)) {
      throw new IllegalArgumentException(name + " must be above 0 ms, not " + limitMs);
    }
  }

  /** Whether a request kept the limits. Times are in nanoseconds. */
  boolean isKept(long arrivedNs, long firstTokenNs, long lastTokenNs, int tokens) {
    double decodeMs = (lastTokenNs - firstTokenNs) / NS_PER_MS;
    return (firstTokenNs - arrivedNs) / NS_PER_MS <= ttftMs
        && (tokens < 2 || decodeMs / (tokens - 1) <= tpotMs)
        && (lastTokenNs - arrivedNs) / NS_PER_MS <= e2elMs;
  }

  /** {@return the limits as {@code ttft 500 ms, tpot 50 ms}} */
  @Override
  public String toString() {
    List<String> limits = new ArrayList<>();
    addLimit(limits, "ttft", ttftMs);
    addLimit(limits, "tpot", tpotMs);
    addLimit(limits, "e2el", e2elMs);
    return String.join(", ", limits);
  }

  private static void addLimit(List<String> limits, String name, double limitMs) {
    if (Double.isFinite(limitMs)) {
      limits.add(
          String.format(
              Locale.ROOT, "%s %s ms", name, Double.toString(limitMs).replaceAll("\\.0$", "")));
    }
  }
}
