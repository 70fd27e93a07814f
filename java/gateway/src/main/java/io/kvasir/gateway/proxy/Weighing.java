package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.Placement;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a router chose from, and what it expects of its choice. Immutable.
 *
 * @param promptTokens the prompt's tokens; negative if unknown
 * @param candidates ranks, or workers, that it chose from; 0 if no router chose
 * @param waitedNs time in its queue, in nanoseconds
 * @param firstTokenMs the expected time to first token, in milliseconds; NaN if it expects none
 * @param terms the terms of the choice's cost; empty if it compares no costs
 * @param conversationId the conversation that it takes the request to belong to, made up where the
 *     request names none; null if it keeps none
 */
record Weighing(
    long promptTokens,
    int candidates,
    long waitedNs,
    double firstTokenMs,
    Map<String, Double> terms,
    @Nullable String conversationId) {

  /** No router chose. */
  static final Weighing NONE = new Weighing(-1, 0, 0, Double.NaN, Map.of(), null);

  /** That of a placement; {@code promptTokens} negative if unknown. */
  static Weighing of(Placement placement, long promptTokens) {
    return new Weighing(
        promptTokens,
        placement.eligible(),
        placement.waitedNs(),
        placement.firstTokenMs(),
        placement.terms(),
        placement.conversationId());
  }
}
