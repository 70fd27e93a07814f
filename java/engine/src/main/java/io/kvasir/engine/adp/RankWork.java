package io.kvasir.engine.adp;

/**
 * The work left on a rank, as far as it is known, or the work of one of its steps: prompts to
 * prefill and requests that decode.
 *
 * <p>Immutable; a snapshot that may be stale.
 *
 * @param prefillRequests requests that have not produced their first token
 * @param prefillTokens tokens to compute for these requests, not counting tokens that are cached or
 *     will be when the request starts
 * @param attendedPairs token pairs of their attention: {@code n (c + n / 2)} for n tokens after c
 *     computed ones
 * @param decodingRequests requests that decode
 * @param decodeKvTokens KV tokens that these requests read in a step
 */
public record RankWork(
    int prefillRequests,
    long prefillTokens,
    double attendedPairs,
    int decodingRequests,
    long decodeKvTokens) {

  /** Nothing to compute. */
  public static final RankWork NONE = new RankWork(0, 0, 0, 0, 0);

  /**
   * The token pairs of attention for computing part of a sequence.
   *
   * @param computed tokens computed before
   * @param tokens tokens to compute after them
   * @return the number of pairs
   */
  public static double attendedPairs(long computed, long tokens) {
    return tokens * (computed + tokens / 2.0);
  }
}
