package io.kvasir.simulator.replay;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A multiset of durations with exact percentiles. Adding is O(1). Equal durations share one entry,
 * so memory grows only with the number of different durations.
 *
 * <p>Not thread-safe.
 */
final class Durations {

  private static final double NS_PER_MS = 1e6;

  private final Long2LongOpenHashMap counts = new Long2LongOpenHashMap();
  private long count;
  private double sumMs;
  // The current run of equal durations, not yet counted.
  private long runNs;
  private long runLength;

  void add(long durationNs) {
    if (durationNs != runNs) {
      book();
      runNs = durationNs;
    }
    runLength++;
  }

  private void book() {
    if (runLength > 0) {
      counts.addTo(runNs, runLength);
      count += runLength;
      sumMs += runLength * (runNs / NS_PER_MS);
      runLength = 0;
    }
  }

  /** Summarises the durations. O(d log d) for d different durations. */
  DurationSummary summary() {
    book();
    if (count == 0) {
      return DurationSummary.NONE;
    }
    long[] values = counts.keySet().toLongArray();
    Arrays.sort(values);
    long[] upTo = new long[values.length];
    long sum = 0;
    for (int i = 0; i < values.length; i++) {
      sum += counts.get(values[i]);
      upTo[i] = sum;
    }
    return new DurationSummary(
        count,
        sumMs / count,
        percentileMs(values, upTo, 50),
        percentileMs(values, upTo, 90),
        percentileMs(values, upTo, 95),
        percentileMs(values, upTo, 99),
        values[values.length - 1] / NS_PER_MS,
        quantilesMs(values, upTo));
  }

  private static List<Double> quantilesMs(long[] values, long[] upTo) {
    List<Double> quantiles = new ArrayList<>();
    quantiles.add(values[0] / NS_PER_MS);
    for (int percent = 1; percent <= 100; percent++) {
      quantiles.add(percentileMs(values, upTo, percent));
    }
    return quantiles;
  }

  /** The smallest value that is not exceeded by at least this percentage of all values. */
  private static double percentileMs(long[] values, long[] upTo, int percent) {
    long rank = (upTo[upTo.length - 1] * percent + 99) / 100;
    int found = Arrays.binarySearch(upTo, rank);
    return values[found < 0 ? -found - 1 : found] / NS_PER_MS;
  }
}
