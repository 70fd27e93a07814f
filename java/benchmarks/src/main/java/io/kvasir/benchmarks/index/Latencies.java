package io.kvasir.benchmarks.index;

import java.util.Arrays;

/** Durations of individual calls, in memory allocated before the clock starts. Not thread-safe. */
final class Latencies {

  private final long[] ns;
  private int size;

  /** Allocates and touches room for this many durations. */
  Latencies(int most) {
    this.ns = new long[most];
    Arrays.fill(ns, -1);
  }

  void add(long durationNs) {
    ns[size++] = durationNs;
  }

  /** Summarises the durations; sorts them, O(n log n). */
  LatencySummary summary() {
    Arrays.sort(ns, 0, size);
    return new LatencySummary(size, at(0.50), at(0.99), at(0.999), size == 0 ? 0 : ns[size - 1]);
  }

  /** The smallest value that is not exceeded by at least this share of all values. */
  private long at(double share) {
    return size == 0 ? 0 : ns[Math.max(0, (int) Math.ceil(share * size) - 1)];
  }
}
