package io.kvasir.simulator.timing;

/**
 * A request that an engine answered, and the times that were measured. Immutable by contract.
 *
 * @param startMs when it was sent, from any origin; not a number if that is unknown
 * @param promptTokens tokens of its prompt, at least 1
 * @param cachedTokens leading prompt tokens that were not computed, less than all
 * @param firstTokenMs from sending to the first token, above 0
 * @param gapsMs from one token to the next, at least 0 each; empty if unknown
 */
@SuppressWarnings("ArrayRecordComponent")
public record AnsweredRequest(
    double startMs, int promptTokens, int cachedTokens, double firstTokenMs, double[] gapsMs) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public AnsweredRequest {
    if (promptTokens < 1) {
      throw new IllegalArgumentException("the prompt must have at least 1 token");
    }
    if (cachedTokens < 0 || cachedTokens >= promptTokens) {
      throw new IllegalArgumentException(
          "the cached tokens must be from 0 to " + (promptTokens - 1) + ", not " + cachedTokens);
    }
    if (!Double.isFinite(firstTokenMs) || firstTokenMs <= 0) {
      throw new IllegalArgumentException("the time to the first token must be above 0");
    }
    for (double gapMs : gapsMs) {
      if (!Double.isFinite(gapMs) || gapMs < 0) {
        throw new IllegalArgumentException("the time between tokens must be at least 0");
      }
    }
  }

  boolean started() {
    return !Double.isNaN(startMs);
  }

  double firstTokenAtMs() {
    return startMs + firstTokenMs;
  }

  int computedTokens() {
    return promptTokens - cachedTokens;
  }
}
