/**
 * Measures prefix indexes on block events that our own pools produce from a trace.
 *
 * <p>{@link io.kvasir.simulator.indexbench.CorpusGenerator} plays a trace into pools and freezes
 * the queries and events to a file, {@link io.kvasir.simulator.indexbench.CorpusReader} loads it,
 * and {@link io.kvasir.simulator.indexbench.IndexMeasurement} replays it against indexes. One of
 * them is the baseline, a radix tree in Java. It knows nothing of options or of how results are
 * shown.
 */
package io.kvasir.simulator.indexbench;
