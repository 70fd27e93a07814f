package io.kvasir.benchmarks.index;

import java.util.Arrays;

/**
 * Durations of calls, one by one, in memory that is there before the clock starts. Not thread-safe.
 */
final class Latencies {

  private final long[] ns;
  private int size;

  /** Makes room for so many, and touches it. */
  Latencies(int most) {
    this.ns = new long[most];
    Arrays.fill(ns, -1);
  }

  void add(long durationNs) {
    ns[size++] = durationNs;
  }

  /** Sorts what was added; O(n log n). */
  LatencySummary summary() {
    Arrays.sort(ns, 0, size);
    return new LatencySummary(size, at(0.50), at(0.99), at(0.999), size == 0 ? 0 : ns[size - 1]);
  }

  /** The smallest value that at least the share's part of all is not above. */
  private long at(double share) {
    return size == 0 ? 0 : ns[Math.max(0, (int) Math.ceil(share * size) - 1)];
  }
}
