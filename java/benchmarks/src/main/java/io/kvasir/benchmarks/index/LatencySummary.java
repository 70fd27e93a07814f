package io.kvasir.benchmarks.index;

/**
 * Durations of calls, in nanoseconds. Immutable.
 *
 * @param count calls
 * @param p50 half of the calls took no longer
 * @param p99 99 of 100 took no longer
 * @param p999 999 of 1000 took no longer
 * @param max the longest
 */
public record LatencySummary(long count, long p50, long p99, long p999, long max) {}
