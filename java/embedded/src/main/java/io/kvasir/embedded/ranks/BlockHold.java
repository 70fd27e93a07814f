package io.kvasir.embedded.ranks;

import io.kvasir.hash.BlockHashes;

/**
 * Blocks of a prompt that a transfer keeps in a rank's pool.
 *
 * <p>The constant parts may be read by any thread, the others belong to the ranks' thread.
 */
public final class BlockHold {

  /** Why blocks are kept. */
  public enum Purpose {
    /** Another engine fetches them. */
    PINNED,
    /** They come from another engine. */
    ARRIVING
  }

  private final Purpose purpose;
  private final int rank;
  private final int lease;
  private final int[] tokens;
  private final BlockHashes hashes;
  private final int matchedBlocks;
  private final int[] blocks;

  /** Whether it may be released because other requests need room. */
  boolean yields;

  boolean released;

  BlockHold(
      Purpose purpose,
      int rank,
      int lease,
      int[] tokens,
      BlockHashes hashes,
      int matchedBlocks,
      int[] blocks) {
    this.purpose = purpose;
    this.rank = rank;
    this.lease = lease;
    this.tokens = tokens;
    this.hashes = hashes;
    this.matchedBlocks = matchedBlocks;
    this.blocks = blocks;
  }

  Purpose purpose() {
    return purpose;
  }

  /** {@return the rank} */
  public int rank() {
    return rank;
  }

  int lease() {
    return lease;
  }

  /** {@return the tokens; not a copy} */
  public int[] tokens() {
    return tokens;
  }

  /** {@return the hashes of the full blocks} */
  public BlockHashes hashes() {
    return hashes;
  }

  /** {@return the leading blocks that were in the pool before} */
  public int matchedBlocks() {
    return matchedBlocks;
  }

  /** {@return the numbers of its blocks, the last of which may not be full; not a copy} */
  public int[] blocks() {
    return blocks;
  }
}
