/**
 * Runs requests: the worker's waiting queue, one executor per rank, and the loop that steps all
 * ranks together.
 *
 * <p>{@link io.kvasir.engine.execute.AdpWorker} puts a worker together and is its front door.
 * {@link io.kvasir.engine.execute.AdpLoop} drives it: each iteration pops the {@link
 * io.kvasir.engine.execute.WaitingQueue}, routes the popped requests, and passes them to their
 * {@link io.kvasir.engine.execute.RankExecutor}s. An executor schedules its requests, leases blocks
 * from its pool and runs its {@link io.kvasir.engine.execute.StepEngine}. A {@link
 * io.kvasir.engine.execute.RequestListener} receives the events of each request. The caller passes
 * in the time; the package has no clock.
 *
 * <p>A context rank computes prompts only. Its executor has a {@link
 * io.kvasir.engine.execute.KvTransfer} and keeps a request's blocks until the KV has been sent to
 * the generating worker.
 *
 * <p>The package depends neither on how pools find blocks, nor on how routers choose ranks, nor on
 * where requests come from.
 */
@NullMarked
package io.kvasir.engine.execute;

import org.jspecify.annotations.NullMarked;
