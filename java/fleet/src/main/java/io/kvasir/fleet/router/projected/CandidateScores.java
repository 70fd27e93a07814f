package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.model.Digest64;

/** What one choice computes of each candidate. Reused between choices; not thread-safe. */
final class CandidateScores {

  /** Part of the time to compute the request by which scores may differ and count as equal. */
  private static final double TOLERANCE = 0.05;

  /** Difference of likelihoods that does not matter. */
  private static final double AS_LIKELY = 0.02;

  double[] score = {};
  double[] queueMs = {};
  double[] computeMs = {};
  double[] openBeside = {};
  double[] firstTokenMs = {};

  /** How likely the request is to meet its targets. */
  double[] likelihood = {};

  /** {@link #likelihood} less what others lose by the request. */
  double[] met = {};

  /** Makes room. Returns whether there was too little. */
  boolean reserve(int candidates) {
    boolean grows = score.length < candidates;
    if (grows) {
      score = new double[candidates];
      queueMs = new double[candidates];
      computeMs = new double[candidates];
      openBeside = new double[candidates];
      firstTokenMs = new double[candidates];
      likelihood = new double[candidates];
      met = new double[candidates];
    }
    return grows;
  }

  /**
   * Of the candidates that are about as good as the best, the one chosen least recently. Candidates
   * with which fewer requests would meet their targets are not. A score that is not a number is the
   * worst. O(candidates).
   */
  int leastRecentOfBest(Candidates candidates, long requestId) {
    int size = candidates.size();
    double mostMet = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      if (Double.isNaN(score[i]) || Double.isNaN(met[i])) {
        score[i] = Double.POSITIVE_INFINITY;
        met[i] = Double.NEGATIVE_INFINITY;
      }
      mostMet = Math.max(mostMet, met[i]);
    }
    int lowest = 0;
    for (int i = 0; i < size; i++) {
      if (met[i] < mostMet - AS_LIKELY) {
        score[i] = Double.POSITIVE_INFINITY;
      }
      if (score[i] < score[lowest]) {
        lowest = i;
      }
    }
    double most = score[lowest] + TOLERANCE * computeMs[lowest];
    if (Double.isNaN(most)) {
      most = Double.POSITIVE_INFINITY;
    }
    int i = (int) ((Digest64.fold(Digest64.EMPTY, requestId) & Long.MAX_VALUE) % size);
    int best = -1;
    for (int n = 0; n < size; n++, i = i + 1 == size ? 0 : i + 1) {
      if (score[i] <= most
          && (best < 0 || candidates.lastChosen(i) < candidates.lastChosen(best))) {
        best = i;
      }
    }
    return best;
  }
}
