package io.kvasir.timing;

import io.kvasir.model.Checks;

/**
 * One step of a rank, as its engine reports it: what was computed, and how long it took. Immutable.
 *
 * @param durationNs its duration in nanoseconds; 0 if nothing was computed
 * @param prefillRequests requests of which a part of the prompt was computed
 * @param prefillTokens prompt tokens that were computed
 * @param prefillKvTokens prompt tokens before them whose KV was read
 * @param decodingRequests requests that decoded a token
 * @param decodeKvTokens tokens whose KV they read
 */
public record ForwardPass(
    long durationNs,
    int prefillRequests,
    long prefillTokens,
    long prefillKvTokens,
    int decodingRequests,
    long decodeKvTokens) {

  /** A step in which nothing was computed. */
  public static final ForwardPass IDLE = new ForwardPass(0, 0, 0, 0, 0, 0);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is negative
   */
  public ForwardPass {
    Checks.atLeast("durationNs", durationNs, 0);
    Checks.atLeast("prefillRequests", prefillRequests, 0);
    Checks.atLeast("prefillTokens", prefillTokens, 0);
    Checks.atLeast("prefillKvTokens", prefillKvTokens, 0);
    Checks.atLeast("decodingRequests", decodingRequests, 0);
    Checks.atLeast("decodeKvTokens", decodeKvTokens, 0);
  }

  /**
   * {@return pairs of a computed prompt token and one that it attends to, as if all prompts were
   * equal}
   */
  public double attendedPairs() {
    return prefillTokens * (prefillKvTokens + prefillTokens / 2.0) / Math.max(1, prefillRequests);
  }
}
