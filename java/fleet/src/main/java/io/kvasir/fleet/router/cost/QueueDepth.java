package io.kvasir.fleet.router.cost;

/**
 * The queue of a {@link CostRouter}. Immutable.
 *
 * @param requests requests that wait
 * @param tokens their prompt tokens
 */
public record QueueDepth(int requests, long tokens) {}
