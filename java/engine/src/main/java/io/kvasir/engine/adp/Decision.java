package io.kvasir.engine.adp;

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
 * @param affinityActive whether matches counted when ranks were compared
 * @param maxMatch the longest match among the ranks that were compared; 0 if none were
 * @param scoredRanks the ranks that were compared, ascending; empty if none were, or nobody asked
 * @param scores the score of each of {@code scoredRanks}, lower is better
 * @param terms what the scores are the sums of, if they are sums and somebody asked
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record Decision(
    Request request,
    int requestIndex,
    int rank,
    AdpReason reason,
    int matchedTokens,
    boolean affinityActive,
    int maxMatch,
    int[] scoredRanks,
    double[] scores,
    ScoreTerms terms) {

  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  /**
   * A placement for which no ranks were compared by score.
   *
   * @param request who was placed
   * @param requestIndex the request's index in the batch given to the router
   * @param rank the rank that serves it
   * @param reason why
   * @param matchedTokens what that rank holds of it
   */
  public Decision(
      Request request, int requestIndex, int rank, AdpReason reason, int matchedTokens) {
    this(
        request,
        requestIndex,
        rank,
        reason,
        matchedTokens,
        false,
        0,
        NO_RANKS,
        NO_SCORES,
        ScoreTerms.NONE);
  }
}
