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
   * only when they end.
   */

  /** The factor by which each end reduces the weight of those before it. */
  private static final double KEPT = 1 - 1.0 / 64;

  /** Tokens of an answer before there was any; worth one. */
  private static final double FIRST_TOKENS = 256;

  private static final double NS_PER_MS = 1e6;

  private double tokens = FIRST_TOKENS;
  private double answers = 1;
  private double stayedMs;
  private double stays;
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

  /** Tokens of an answer have come. */
  void streamed(int count) {
    tokens += count;
  }

  /**
   * A request is over.
   *
   * @param answered whether it was answered
   * @param nowNs the time
   */
  void ended(boolean answered, long nowNs) {
    advance(nowNs);
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
    return tokens / answers;
  }

  /** The mean time from placement to end, in milliseconds. */
  double stayMs(long nowNs) {
    advance(nowNs);
    return stayedMs / Math.max(1, stays);
  }
}
