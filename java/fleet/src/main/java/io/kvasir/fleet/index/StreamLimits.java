package io.kvasir.fleet.index;

import io.kvasir.model.Checks;

/**
 * Limits on events that wait behind gaps. An event counts as its number of blocks plus one.
 * Immutable.
 *
 * @param pendingBlocksPerRank limit for one rank, at least 0
 * @param pendingBlocks limit for all ranks together, at least 0
 */
public record StreamLimits(int pendingBlocksPerRank, int pendingBlocks) {

  /** 65,536 for a rank, 1,048,576 for all. */
  public static final StreamLimits DEFAULT = new StreamLimits(1 << 16, 1 << 20);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a limit is negative
   */
  public StreamLimits {
    Checks.atLeast("pendingBlocksPerRank", pendingBlocksPerRank, 0);
    Checks.atLeast("pendingBlocks", pendingBlocks, 0);
  }
}
