/**
 * Runs requests: the worker's waiting queue, one executor per rank, and the loop in which all ranks
 * iterate in lock-step.
 *
 * <p>{@link io.kvasir.engine.execute.AdpLoop} drives a worker: each iteration pops the {@link
 * io.kvasir.engine.execute.WaitingQueue}, asks the router, and hands the requests to their {@link
 * io.kvasir.engine.execute.RankExecutor}s, which schedule, lease blocks from their pool and let
 * their {@link io.kvasir.engine.execute.StepEngine} compute. What becomes of a request is told to a
 * {@link io.kvasir.engine.execute.RequestListener}. Time is a number that the caller passes in; the
 * package has no clock.
 *
 * <p>A context rank computes prompts only: an executor with a {@link
 * io.kvasir.engine.execute.KvTransfer} keeps a request's blocks until its KV has been sent to where
 * the answer is generated.
 *
 * <p>It knows nothing of how pools find blocks, how routers choose, and where requests come from.
 */
package io.kvasir.engine.execute;
