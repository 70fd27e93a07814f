package io.kvasir.fleet.router;

import io.kvasir.model.Checks;

/**
 * What a rank can take, as far as it is known. Immutable.
 *
 * @param totalKvBlocks blocks of its KV cache; 0 if unknown
 * @param maxNumBatchedTokens tokens that it computes in one step at most; 0 if unknown
 */
public record RankCapacity(long totalKvBlocks, long maxNumBatchedTokens) {

  /** Nothing is known. */
  public static final RankCapacity UNKNOWN = new RankCapacity(0, 0);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is negative
   */
  public RankCapacity {
    Checks.atLeast("totalKvBlocks", totalKvBlocks, 0);
    Checks.atLeast("maxNumBatchedTokens", maxNumBatchedTokens, 0);
  }
}
