/**
 * Measures Kvasir's hot paths against the best Java alternatives: block hashing, prefix probes, ADP
 * decisions.
 *
 * <p>{@link io.kvasir.benchmarks.ComparisonReport} alternates between the benchmarks and prints the
 * tables of docs/benchmarks-steps.md; with arguments it is JMH's own command line. {@link
 * io.kvasir.benchmarks.DeviceBenchmark} measures pools on a CUDA device. No other package depends
 * on this one.
 */
package io.kvasir.benchmarks;
