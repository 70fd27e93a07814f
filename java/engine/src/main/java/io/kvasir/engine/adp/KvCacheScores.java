package io.kvasir.engine.adp;

import java.util.Arrays;

/**
 * The scores of the ranks that compete for one request of the {@code kv_cache_aware} router:
 *
 * <pre>
 * score(rank) = (length - match(rank)) + weight * (tokens(rank) / denominator * length)
 * </pre>
 *
 * where denominator = max(tokens of all competing ranks, length, 1). Matches count only if the
 * longest match among these ranks exceeds the threshold's share of the prompt. The lowest score
 * wins, then fewer tokens, then the rank that comes first when the competing ranks are shuffled
 * with the request's id as seed. Only such a tie pays for the shuffle.
 *
 * <p>Every process must compute bit-identical scores, so the order of the floating-point operations
 * must not change.
 *
 * <p>Not thread-safe. Arrays are reused from request to request.
 */
final class KvCacheScores {

  private final double matchRateThreshold;
  private final double loadBalanceWeight;
  private final CPythonShuffle shuffle;
  private final long[] activeTokens;
  private final int[] matchedTokens;
  private final double[] scores;
  private final int[] tied;
  private int count;
  private int longestMatch;
  private boolean matchesCount;

  /**
   * Makes scores.
   *
   * @param ranks the most ranks that compete
   */
  KvCacheScores(int ranks, KvCacheRoutingOptions options) {
    this.matchRateThreshold = options.matchRateThreshold();
    this.loadBalanceWeight = options.loadBalanceWeight();
    this.shuffle = new CPythonShuffle(ranks);
    this.activeTokens = new long[ranks];
    this.matchedTokens = new int[ranks];
    this.scores = new double[ranks];
    this.tied = new int[ranks];
  }

  /** Starts a request. */
  void clear() {
    count = 0;
    longestMatch = 0;
  }

  /**
   * Adds a rank, at the next position. Ranks are added in ascending order.
   *
   * @param tokens uncached active tokens of the rank
   * @param matched matched tokens of the request, at most its length
   */
  void add(long tokens, int matched) {
    activeTokens[count] = tokens;
    matchedTokens[count] = matched;
    longestMatch = Math.max(longestMatch, matched);
    count++;
  }

  /** Scores the ranks that were added; returns the position of the best. */
  int best(long requestId, int length) {
    matchesCount = (double) longestMatch / Math.max(length, 1) > matchRateThreshold;
    score(length);
    return winner(requestId);
  }

  private void score(int length) {
    long load = 0;
    for (int i = 0; i < count; i++) {
      load += activeTokens[i];
    }
    double denominator = Math.max(Math.max(load, length), 1);
    double weight = loadBalanceWeight;
    for (int i = 0; i < count; i++) {
      int uncached = matchesCount ? length - matchedTokens[i] : length;
      scores[i] = uncached + weight * (activeTokens[i] / denominator * length);
    }
  }

  private int winner(long requestId) {
    int ties = 0;
    double bestScore = 0;
    long bestTokens = 0;
    for (int i = 0; i < count; i++) {
      double score = scores[i];
      long tokens = activeTokens[i];
      if (ties == 0 || score < bestScore || (score == bestScore && tokens < bestTokens)) {
        bestScore = score;
        bestTokens = tokens;
        tied[0] = i;
        ties = 1;
      } else if (score == bestScore && tokens == bestTokens) {
        tied[ties++] = i;
      }
    }
    return ties == 1 ? tied[0] : shuffle.firstOf(tied, ties, requestId, count);
  }

  /** The longest match among the ranks. */
  int longestMatch() {
    return longestMatch;
  }

  /** Whether matches were part of the scores. */
  boolean matchesCount() {
    return matchesCount;
  }

  /** Matched tokens of the rank at a position. */
  int matchedTokens(int position) {
    return matchedTokens[position];
  }

  /** The scores by position, as a new array; lower is better. */
  double[] toArray() {
    return Arrays.copyOf(scores, count);
  }
}
