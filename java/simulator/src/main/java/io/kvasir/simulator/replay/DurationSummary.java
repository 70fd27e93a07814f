package io.kvasir.simulator.replay;

import java.util.List;

/**
 * Mean and exact nearest-rank percentiles of durations, in modelled milliseconds. NaN where nothing
 * was measured.
 *
 * <p>Immutable.
 *
 * @param count number of durations
 * @param meanMs their mean
 * @param p50Ms at least 50 % are not above this
 * @param p90Ms at least 90 % are not above this
 * @param p95Ms at least 95 % are not above this
 * @param p99Ms at least 99 % are not above this
 * @param maxMs the longest
 * @param quantilesMs the shortest duration, then those that at least 1 %, 2 % and so on to 100 %
 *     are not above; empty if there are none
 */
public record DurationSummary(
    long count,
    double meanMs,
    double p50Ms,
    double p90Ms,
    double p95Ms,
    double p99Ms,
    double maxMs,
    List<Double> quantilesMs) {

  /** Summary of no durations. */
  public static final DurationSummary NONE =
      new DurationSummary(
          0, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, List.of());

  /** Copies the list. */
  public DurationSummary {
    quantilesMs = List.copyOf(quantilesMs);
  }
}
