package io.kvasir.gateway.events;

import java.util.Arrays;

/** Counts delays in microseconds, up to a second. Not thread-safe. */
final class DelayCounts {

  private static final int STEP_NS = 1_000;

  private final int[] counts = new int[1_000_000];
  private long total;
  private long longestNs;

  void add(long delayNs) {
    counts[(int) Math.max(0, Math.min(delayNs / STEP_NS, counts.length - 1))]++;
    longestNs = Math.max(longestNs, delayNs);
    total++;
  }

  void clear() {
    Arrays.fill(counts, 0);
    total = 0;
    longestNs = 0;
  }

  /** The delay that a fraction of all does not exceed, in microseconds. */
  private double micros(double fraction) {
    long rest = (long) Math.ceil(fraction * total);
    int step = 0;
    while (step < counts.length - 1 && (rest -= counts[step]) > 0) {
      step++;
    }
    return (step + 1) * STEP_NS / 1e3;
  }

  @Override
  public String toString() {
    return "p50 %.0f us, p99 %.0f us, p99.9 %.0f us, longest %.0f us"
        .formatted(micros(0.5), micros(0.99), micros(0.999), longestNs / 1e3);
  }
}
