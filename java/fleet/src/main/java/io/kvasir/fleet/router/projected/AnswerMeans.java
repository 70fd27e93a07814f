package io.kvasir.fleet.router.projected;

/**
 * How long answers are, in tokens, and how long requests stay, learned from those that still run
 * too.
 *
 * <p>Not thread-safe.
 */
final class AnswerMeans {

  /*
   * Each mean is what all requests have had in a span of time over the number of those that ended in
   * it: the estimate of the greatest likelihood for an exponential distribution of which some values
   * are known only to be at least so much. Long answers count from their first token on, and not
   * only when they end. While hardly any have ended, the estimate is too high: the mean of many
   * values is not above the largest of them.
   */

  /** The factor by which each end reduces the weight of those before it. */
  private static final double KEPT = 1 - 1.0 / 64;

  /** Tokens of an answer before there was any; worth one. */
  private static final double FIRST_TOKENS = 256;

  private static final double NS_PER_MS = 1e6;

  private double tokens = FIRST_TOKENS;
  private double answers = 1;

  /** Of the longest answer. */
  private double mostTokens = FIRST_TOKENS;

  private double stayedMs;
  private double stays;

  /** Of the request that has ended after the longest time. */
  private double mostMs;

  private int running;
  private long atNs;

  private void advance(long nowNs) {
    stayedMs += running * ((nowNs - atNs) / NS_PER_MS);
    atNs = nowNs;
  }

  /** A request was placed. */
  void began(long nowNs) {
    advance(nowNs);
    running++;
  }

  /**
   * Tokens of an answer have come.
   *
   * @param count how many
   * @param answerTokens all that have come of the answer
   */
  void streamed(int count, long answerTokens) {
    tokens += count;
    mostTokens = Math.max(mostTokens, (double) answerTokens);
  }

  /**
   * A request is over.
   *
   * @param answered whether it was answered
   * @param placedNs when it was placed
   * @param nowNs the time
   */
  void ended(boolean answered, long placedNs, long nowNs) {
    advance(nowNs);
    mostMs = Math.max(mostMs, (nowNs - placedNs) / NS_PER_MS);
    running--;
    if (answered) {
      tokens *= KEPT;
      answers = answers * KEPT + 1;
      stayedMs *= KEPT;
      stays = stays * KEPT + 1;
    }
  }

  /** The mean number of tokens of an answer, above 0. */
  double tokens() {
    return Math.min(mostTokens, tokens / answers);
  }

  /**
   * The mean time from placement to end, in milliseconds.
   *
   * @param oldestNs when the request was placed that runs for longest; the time if none runs
   * @param nowNs the time
   */
  double stayMs(long oldestNs, long nowNs) {
    advance(nowNs);
    double longestMs = Math.max(mostMs, (nowNs - oldestNs) / NS_PER_MS);
    return Math.min(longestMs, stayedMs / Math.max(1, stays));
  }
}
