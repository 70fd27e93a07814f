package io.kvasir.embedded.publish;

import org.jspecify.annotations.Nullable;

/**
 * One change of a rank's blocks, with what engines publish about it. Blocks go by their sequence
 * hashes. Immutable by contract: arrays are not copied and must not be changed.
 */
@SuppressWarnings("ArrayRecordComponent") // written once, not compared
public sealed interface BlockChange {

  /**
   * Blocks were stored, each behind the one before it.
   *
   * @param root whether the first block begins a prompt
   * @param parent the block before the first one; without meaning for a root
   * @param hashes one per block
   * @param tokens the tokens of all blocks
   * @param salt the cache salt of the sequence; null if it has none
   */
  record Stored(boolean root, long parent, long[] hashes, int[] tokens, @Nullable String salt)
      implements BlockChange {}

  /**
   * Blocks were removed.
   *
   * @param hashes one per block
   */
  record Removed(long... hashes) implements BlockChange {}

  /** All blocks were removed. */
  record Cleared() implements BlockChange {}
}
