package io.kvasir.simulator.replay;

/**
 * A request that could never be served.
 *
 * <p>Immutable.
 *
 * @param requestId the request
 * @param reason the reason, a sentence
 */
public record Rejection(long requestId, String reason) {}
