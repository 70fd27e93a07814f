package io.kvasir.simulator.compare;

/**
 * A load at which fleet routers were compared: a closed loop.
 *
 * <p>Immutable.
 *
 * @param lengths distribution of the request lengths
 * @param requests number of requests
 * @param concurrency number of requests in flight
 */
public record ClosedLoad(PrefixedPrompts.Lengths lengths, int requests, int concurrency) {}
