package io.kvasir.engine.execute;

import io.kvasir.model.Checks;

/**
 * The model of KV transfers from a context rank to generating workers. Each request has its own
 * bandwidth; concurrent transfers do not share it.
 *
 * <p>Immutable.
 *
 * @param bytesPerToken KV bytes per token
 * @param bytesPerSecond bandwidth of each transfer
 */
public record KvTransfer(long bytesPerToken, double bytesPerSecond) {

  private static final double NS_PER_S = 1e9;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public KvTransfer {
    Checks.atLeast("bytesPerToken", bytesPerToken, 1);
    if (!(bytesPerSecond > 0) || Double.isInfinite(bytesPerSecond)) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be above 0 and finite, not " + bytesPerSecond);
    }
  }

  /**
   * The transfer time of a prompt's KV. O(1).
   *
   * @param promptTokens tokens of the prompt, including matched ones
   * @return nanoseconds, rounded, at least 1
   */
  public long durationNs(int promptTokens) {
    return Math.max(1, Math.round(promptTokens * (bytesPerToken * NS_PER_S / bytesPerSecond)));
  }
}
