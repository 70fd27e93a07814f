/**
 * Keeps processes that run the same loop in step.
 *
 * <p>A worker's ranks may live in several processes, its <i>members</i>. Each member runs the whole
 * loop with the same queue and the same router, so all members reach the same decisions. Decisions
 * are never sent. Members communicate only in gathers: every member contributes a frame and
 * receives the frames of all ({@link io.kvasir.engine.lockstep.RankCollective}). {@link
 * io.kvasir.engine.lockstep.Lockstep} puts a digest of all decisions so far at the head of each
 * frame. A divergence is therefore detected at the next gather, and one more gather finds the first
 * difference.
 *
 * <p>Processes form groups through a {@link io.kvasir.engine.lockstep.ProcessGroup}: over TCP
 * ({@code java/tcp}) or over MPI ({@code java/mpi}), each in a module of its own. {@link
 * io.kvasir.engine.lockstep.Launch} reads what a launcher says about them.
 *
 * <p>The package does not depend on routers or executors, and treats frame bodies as opaque.
 */
@NullMarked
package io.kvasir.engine.lockstep;

import org.jspecify.annotations.NullMarked;
