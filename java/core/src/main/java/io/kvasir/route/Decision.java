package io.kvasir.route;

import io.kvasir.model.Request;

/**
 * One placement and why.
 *
 * <p>Immutable by contract: the arrays must not be changed.
 *
 * @param request who was placed
 * @param requestIndex the request's index in the batch given to the router
 * @param rank the rank that serves it
 * @param reason why
 * @param matchedTokens what that rank holds of it
 * @param scoredRanks the ranks that were compared, ascending; empty if none were
 * @param scores the score of each of {@code scoredRanks}, lower is better
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record Decision(
    Request request,
    int requestIndex,
    int rank,
    Reason reason,
    int matchedTokens,
    int[] scoredRanks,
    double[] scores) {}
