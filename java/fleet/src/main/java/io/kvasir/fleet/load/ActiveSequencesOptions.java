package io.kvasir.fleet.load;

import io.kvasir.model.Checks;

/**
 * What {@link ActiveSequences} count. Named as Dynamo's users know them. Immutable.
 *
 * @param assumeKvReuse whether equal blocks of a rank's requests take memory once; without it every
 *     request counts with all of its blocks
 * @param trackOutputBlocks whether tokens that stream out take blocks too
 * @param trackPrefillTokens whether prompt tokens that are still to be computed are counted
 * @param staleAfterNs after how long without a sign of life a request is given up, in nanoseconds,
 *     at least 1
 */
public record ActiveSequencesOptions(
    boolean assumeKvReuse,
    boolean trackOutputBlocks,
    boolean trackPrefillTokens,
    long staleAfterNs) {

  /** Reuse is assumed, prefill is tracked, output is not; requests are stale after 5 minutes. */
  public static final ActiveSequencesOptions DEFAULT =
      new ActiveSequencesOptions(true, false, true, 300_000_000_000L);

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code staleAfterNs} is below 1
   */
  public ActiveSequencesOptions {
    Checks.atLeast("staleAfterNs", staleAfterNs, 1);
  }

  /**
   * The same, with or without reuse.
   *
   * @param reuse whether equal blocks of a rank take memory once
   * @return new options
   */
  public ActiveSequencesOptions withKvReuse(boolean reuse) {
    return new ActiveSequencesOptions(reuse, trackOutputBlocks, trackPrefillTokens, staleAfterNs);
  }

  /**
   * The same, with or without output blocks.
   *
   * @param track whether tokens that stream out take blocks
   * @return new options
   */
  public ActiveSequencesOptions withOutputBlocks(boolean track) {
    return new ActiveSequencesOptions(assumeKvReuse, track, trackPrefillTokens, staleAfterNs);
  }

  /**
   * The same, with or without prefill tokens.
   *
   * @param track whether prompt tokens that are still to be computed are counted
   * @return new options
   */
  public ActiveSequencesOptions withPrefillTokens(boolean track) {
    return new ActiveSequencesOptions(assumeKvReuse, trackOutputBlocks, track, staleAfterNs);
  }

  /**
   * The same with another age.
   *
   * @param ns after how long without a sign of life a request is given up, at least 1
   * @return new options
   * @throws IllegalArgumentException if {@code ns} is below 1
   */
  public ActiveSequencesOptions withStaleAfterNs(long ns) {
    return new ActiveSequencesOptions(assumeKvReuse, trackOutputBlocks, trackPrefillTokens, ns);
  }
}
