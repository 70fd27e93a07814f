package io.kvasir.simulator.replay;

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
 */
public record DurationSummary(
    long count,
    double meanMs,
    double p50Ms,
    double p90Ms,
    double p95Ms,
    double p99Ms,
    double maxMs) {

  /** Summary of no durations. */
  public static final DurationSummary NONE =
      new DurationSummary(
          0, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);
}
