/**
 * Runs requests: the instance's waiting queue, one executor per rank, and the loop in which all
 * ranks iterate in lock-step.
 *
 * <p>{@code AdpLoop} drives an instance: each iteration gathers the rank states,
 * pops the queue, asks the router and hands the requests to their {@code
 * RankExecutor}s, which schedule, lease blocks from their pool and let their
 * {@code StepEngine} compute. Time is a number that the caller passes in; the
 * package has no clock.
 */
package io.kvasir.execute;
