package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.Checks;
import io.kvasir.model.RankId;

/**
 * The ranks on which policies place that are asked where the actual ranks are not known, as behind
 * another balancer. Each is a worker of its own. Immutable.
 *
 * @param ranks their number
 * @param poolTokens tokens of KV in the cache of each; 0 if unknown
 */
public record VirtualFleet(int ranks, long poolTokens) {

  /** The most ranks. */
  public static final int MAX_RANKS = 4_096;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public VirtualFleet {
    Checks.within("ranks", ranks, 1, MAX_RANKS);
    Checks.atLeast("poolTokens", poolTokens, 0);
  }

  static RankId rank(int index) {
    return new RankId(index, 0);
  }

  RankCapacity capacity(int tokensPerBlock) {
    return new RankCapacity(poolTokens / tokensPerBlock, 0);
  }
}
