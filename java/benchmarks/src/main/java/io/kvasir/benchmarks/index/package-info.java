/**
 * Measures prefix indexes on block events that our own pools produce from a trace.
 *
 * <p>{@link io.kvasir.benchmarks.index.CorpusGenerator} plays a trace into pools and keeps the
 * queries and events, and {@link io.kvasir.benchmarks.index.IndexMeasurement} replays them against
 * indexes. One of them is the baseline, a radix tree in Java. {@link
 * io.kvasir.benchmarks.index.IndexSoak} checks answers and memory over a long run. {@link
 * io.kvasir.benchmarks.index.IndexBenchText}, {@link io.kvasir.benchmarks.index.IndexBenchJson} and
 * {@link io.kvasir.benchmarks.index.SoakReport} format the results. Command-line options are parsed
 * elsewhere.
 */
@NullMarked
package io.kvasir.benchmarks.index;

import org.jspecify.annotations.NullMarked;
