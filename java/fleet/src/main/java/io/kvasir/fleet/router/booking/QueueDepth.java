package io.kvasir.fleet.router.booking;

/**
 * The queue of a {@link BookingRouter}. Immutable.
 *
 * @param requests requests that wait
 * @param tokens their prompt tokens
 */
public record QueueDepth(int requests, long tokens) {}
