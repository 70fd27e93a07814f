package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.workload.Workload;
import java.util.OptionalDouble;

/**
 * One replay with what is to be said about it.
 *
 * <p>Immutable.
 *
 * @param workload what was replayed
 * @param seed the seed of everything random
 * @param traceBlockUpperBound share of a trace's listed ids that an unbounded shared cache would
 *     hold, where the trace lists ids
 * @param result what was measured
 */
public record ReplayReport(
    Workload workload, long seed, OptionalDouble traceBlockUpperBound, ReplayResult result) {}
