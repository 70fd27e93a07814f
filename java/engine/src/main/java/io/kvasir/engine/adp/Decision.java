package io.kvasir.engine.adp;

import io.kvasir.model.Request;

/**
 * One placement and its reason.
 *
 * <p>Immutable by contract: the arrays must not be changed.
 *
 * @param request the placed request
 * @param requestIndex the request's index in the batch given to the router
 * @param rank the chosen rank
 * @param reason the reason for the choice
 * @param matchedTokens matched tokens of the request on that rank
 * @param affinityActive whether matches were part of the comparison
 * @param maxMatch the longest match among the compared ranks; 0 if none were compared
 * @param scoredRanks the compared ranks, ascending; empty if none were compared or explanations are
 *     off
 * @param scores the score of each of {@code scoredRanks}; lower is better
 * @param terms the terms of each score, if scores are sums and explanations are on
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
   * A placement that compared no scores.
   *
   * @param request the placed request
   * @param requestIndex the request's index in the batch given to the router
   * @param rank the chosen rank
   * @param reason the reason for the choice
   * @param matchedTokens matched tokens of the request on that rank
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

  /** {@return one line: request, rank, reason, match, and the score of each compared rank} */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(request).append(" to rank ").append(rank).append(", ").append(reason.id());
    text.append(", ").append(matchedTokens).append(" tokens matched");
    for (int i = 0; i < scoredRanks.length; i++) {
      text.append(i == 0 ? "; scores: " : ", ");
      text.append("rank ").append(scoredRanks[i]).append(' ').append(scores[i]);
    }
    return text.toString();
  }
}
