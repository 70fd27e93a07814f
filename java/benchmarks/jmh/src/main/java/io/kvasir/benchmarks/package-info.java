/**
 * Measures Kvasir's hot steps beside the best that Java offers for the same work: block hashing,
 * prefix probes, ADP decisions.
 *
 * <p>{@link io.kvasir.benchmarks.ComparisonReport} runs the benchmarks in alternation and prints
 * the tables of docs/benchmarks.md; with arguments it is JMH's own command line. {@link
 * io.kvasir.benchmarks.DeviceBenchmark} measures pools on a CUDA device. Nothing depends on this
 * package.
 */
package io.kvasir.benchmarks;
