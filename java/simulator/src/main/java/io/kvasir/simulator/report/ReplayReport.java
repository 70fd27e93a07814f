package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.workload.Workload;
import java.util.OptionalDouble;

/**
 * The result of one replay with its workload, its seed and what gives it again.
 *
 * <p>Immutable.
 *
 * @param workload the name of the workload
 * @param seed the seed of all randomness
 * @param traceBlockUpperBound share of a trace's listed block ids that an unbounded shared cache
 *     would contain; set only if the trace lists ids
 * @param basis the command and the build
 * @param result the measurements
 */
public record ReplayReport(
    Workload workload,
    long seed,
    OptionalDouble traceBlockUpperBound,
    ReportBasis basis,
    ReplayResult result) {}
