package io.kvasir.fleet.load;

import io.kvasir.model.RankId;

/** A condition on the load of one rank. Called under the lock of the {@link ActiveSequences}. */
@FunctionalInterface
public interface RankCondition {

  /**
   * Tests the load of a rank. It must be quick.
   *
   * @param rank the rank
   * @param activePrefillTokens prompt tokens that its requests have still to compute
   * @param activeBlocks blocks that its requests take
   * @return whether the rank satisfies the condition
   */
  boolean test(RankId rank, long activePrefillTokens, long activeBlocks);
}
