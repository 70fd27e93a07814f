/**
 * What is asked of a worker, and when: traces and generated workloads behind one role.
 *
 * <p>A {@link io.kvasir.simulator.workload.Workload} is a description that can be started any
 * number of times; each start yields the same {@link io.kvasir.simulator.workload.Arrivals} for the
 * same answers. Requests that do not depend on answers are a {@link
 * io.kvasir.simulator.workload.RequestSequence}, played by timestamps ({@link
 * io.kvasir.simulator.workload.OpenLoop}) or so many at a time ({@link
 * io.kvasir.simulator.workload.ClosedLoop}); {@link io.kvasir.simulator.workload.MultiTurn} asks on
 * with what was answered. Everything random comes from a seed and from the number of the request or
 * session it is for, so the order in which things happen changes nothing. The package knows nothing
 * of ranks, routers or pools.
 */
package io.kvasir.simulator.workload;
