/**
 * Keeps processes that run the same loop in step.
 *
 * <p>A worker's ranks may live in several processes, its <i>members</i>. Each runs the whole loop:
 * the same queue, the same router, the same decisions, which are never sent. What they do send they
 * send in gathers: every member gives a frame and gets the frames of all ({@link
 * io.kvasir.engine.lockstep.RankCollective}, in one process or over TCP). {@link
 * io.kvasir.engine.lockstep.Lockstep} puts a digest of everything decided so far at the head of
 * each frame, so that members which disagree find out at the next gather, and learn from a second
 * one what they disagree about.
 *
 * <p>The package knows nothing of routers and executors, and not what the frames are about.
 */
package io.kvasir.engine.lockstep;
