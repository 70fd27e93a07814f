package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.Checks;
import org.jspecify.annotations.Nullable;

/**
 * When a rank is overloaded and receives no further request. One exceeded threshold is enough; null
 * is never exceeded. Immutable.
 *
 * @param activeDecodeBlocksThreshold share of the rank's KV cache, 0 to 1, that active blocks must
 *     exceed; counts only where {@link RankCapacity#totalKvBlocks()} is known
 * @param activePrefillTokensThreshold tokens that active prefill must exceed
 * @param activePrefillTokensThresholdFrac multiple of {@link RankCapacity#maxNumBatchedTokens()},
 *     where that is known, that active prefill must exceed
 */
public record BusyThresholds(
    @Nullable Double activeDecodeBlocksThreshold,
    @Nullable Long activePrefillTokensThreshold,
    @Nullable Double activePrefillTokensThresholdFrac) {

  /** No rank is ever overloaded. */
  public static final BusyThresholds NONE = new BusyThresholds(null, null, null);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the threshold that is out of range, what is allowed and
   *     what was given
   */
  public BusyThresholds {
    if (activeDecodeBlocksThreshold != null) {
      Checks.within("activeDecodeBlocksThreshold", activeDecodeBlocksThreshold, 0, 1);
    }
    if (activePrefillTokensThreshold != null) {
      Checks.atLeast("activePrefillTokensThreshold", activePrefillTokensThreshold, 0);
    }
    if (activePrefillTokensThresholdFrac != null) {
      Checks.finiteAtLeast0("activePrefillTokensThresholdFrac", activePrefillTokensThresholdFrac);
    }
  }

  /**
   * Whether a rank is overloaded. O(1).
   *
   * @param activePrefillTokens its prompt tokens that are still to be computed
   * @param activeBlocks blocks in use there
   * @param capacity its capacity
   * @return true if any threshold is exceeded
   */
  public boolean exceededBy(long activePrefillTokens, long activeBlocks, RankCapacity capacity) {
    return (activeDecodeBlocksThreshold != null
            && capacity.totalKvBlocks() > 0
            && activeBlocks > activeDecodeBlocksThreshold * capacity.totalKvBlocks())
        || (activePrefillTokensThreshold != null
            && activePrefillTokens > activePrefillTokensThreshold)
        || (activePrefillTokensThresholdFrac != null
            && capacity.maxNumBatchedTokens() > 0
            && activePrefillTokens
                > activePrefillTokensThresholdFrac * capacity.maxNumBatchedTokens());
  }
}
