package io.kvasir.engine.execute;

/**
 * How a context rank's KV gets to the workers that generate: each request over a link of its own
 * bandwidth, whatever else is being sent.
 *
 * <p>Immutable.
 *
 * @param bytesPerToken KV of a token, in bytes
 * @param bytesPerSecond bandwidth that a transfer has
 */
public record KvTransfer(long bytesPerToken, double bytesPerSecond) {

  private static final double NS_PER_S = 1e9;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public KvTransfer {
    if (bytesPerToken < 1) {
      throw new IllegalArgumentException("bytesPerToken must be at least 1, not " + bytesPerToken);
    }
    if (!(bytesPerSecond > 0) || Double.isInfinite(bytesPerSecond)) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be above 0 and finite, not " + bytesPerSecond);
    }
  }

  /**
   * How long a prompt's KV takes. O(1).
   *
   * @param promptTokens tokens of the prompt, those found in the cache included
   * @return nanoseconds, rounded, at least 1
   */
  public long durationNs(int promptTokens) {
    return Math.max(1, Math.round(promptTokens * (bytesPerToken * NS_PER_S / bytesPerSecond)));
  }
}
