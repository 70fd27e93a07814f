package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.IndexStats;

/**
 * Contents and memory of an index. Immutable.
 *
 * @param memberships pairs of a rank and a handle
 * @param distinctBlocks blocks that some rank holds
 * @param bytes memory
 */
public record ResidentMemory(long memberships, long distinctBlocks, long bytes) {

  static ResidentMemory of(IndexStats stats) {
    return new ResidentMemory(stats.memberships(), stats.distinctBlocks(), stats.bytes());
  }

  /** {@return the bytes of memory per membership; 0 without memberships} */
  public double bytesPerMembership() {
    return memberships == 0 ? 0 : (double) bytes / memberships;
  }
}
