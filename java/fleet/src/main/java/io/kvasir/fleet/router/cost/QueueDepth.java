package io.kvasir.fleet.router.cost;

/**
 * Who waits in a {@link KvScheduler}. Immutable.
 *
 * @param requests how many requests
 * @param tokens prompt tokens that they have
 */
public record QueueDepth(int requests, long tokens) {}
