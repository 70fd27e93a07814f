/**
 * Workloads: the requests that a worker or a fleet receives and their arrival times, from traces or
 * generated.
 *
 * <p>A {@link io.kvasir.simulator.workload.Workload} is a description that can be started any
 * number of times. Each start yields the same {@link io.kvasir.simulator.workload.Arrivals} for the
 * same answers. Requests that do not depend on answers form a {@link
 * io.kvasir.simulator.workload.RequestSequence}. It is played by timestamps ({@link
 * io.kvasir.simulator.workload.OpenLoop}), by timestamps with turns that wait for answers ({@link
 * io.kvasir.simulator.workload.WaitingTurns}) or with fixed concurrency ({@link
 * io.kvasir.simulator.workload.ClosedLoop}). {@link io.kvasir.simulator.workload.MultiTurn} builds
 * each prompt from earlier answers. All random values derive from a seed and the number of their
 * request or session, so the order of events does not affect them. The package does not depend on
 * ranks, routers or pools.
 */
@NullMarked
package io.kvasir.simulator.workload;

import org.jspecify.annotations.NullMarked;
