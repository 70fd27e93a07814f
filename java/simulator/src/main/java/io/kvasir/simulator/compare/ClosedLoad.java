package io.kvasir.simulator.compare;

/**
 * A load at which fleet routers were compared: a closed loop.
 *
 * <p>Immutable.
 *
 * @param lengths how long requests are
 * @param requests number of requests
 * @param concurrency number of them in flight
 */
public record ClosedLoad(PrefixedPrompts.Lengths lengths, int requests, int concurrency) {}
