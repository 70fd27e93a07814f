package io.kvasir.engine.adp;

/**
 * What a rank has yet to compute, as far as it is known: the prompts in its line and the requests
 * that generate.
 *
 * <p>Immutable; a snapshot that may be stale.
 *
 * @param prefillRequests requests whose first token is still to come
 * @param prefillTokens tokens that they still have to compute, without what is cached of them or
 *     will be when their turn comes
 * @param attendedPairs pairs of tokens that attention still has to look at for them: {@code n (c +
 *     n / 2)} for n tokens behind c computed ones
 * @param decodingRequests requests that generate
 * @param decodeKvTokens tokens of KV that they read in a step
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
   * Pairs of tokens that attention looks at.
   *
   * @param computed tokens that are there already
   * @param tokens tokens to compute behind them
   * @return their number
   */
  public static double attendedPairs(long computed, long tokens) {
    return tokens * (computed + tokens / 2.0);
  }
}
