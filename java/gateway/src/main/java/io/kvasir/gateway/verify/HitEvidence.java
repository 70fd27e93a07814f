package io.kvasir.gateway.verify;

/** Predicted against reported cache hits of a rank, in tokens. Not thread-safe. */
final class HitEvidence {

  private long requests;
  private long predicted;
  private long cached;
  private long error;
  private int unreported;

  /**
   * A request was served. Engines leave the number out where it is 0, so once one has been
   * reported, none means 0.
   *
   * @param predictedTokens prompt tokens that were expected in the cache
   * @param cachedTokens those that its usage reports; negative if it reports none
   * @param tokensPerBlock the block size
   */
  void add(long predictedTokens, long cachedTokens, int tokensPerBlock) {
    if (cachedTokens >= 0 || requests > 0) {
      long tokens = Math.max(0, cachedTokens);
      requests++;
      predicted += predictedTokens;
      cached += tokens;
      error += Math.abs(predictedTokens - tokens);
      unreported = 0;
    } else if (predictedTokens >= tokensPerBlock) {
      unreported++;
    }
  }

  long requests() {
    return requests;
  }

  long predicted() {
    return predicted;
  }

  long cached() {
    return cached;
  }

  /** Sum of the absolute differences. */
  long error() {
    return error;
  }

  /** Requests in a row with expected hits whose usage reported none. */
  int unreported() {
    return unreported;
  }
}
