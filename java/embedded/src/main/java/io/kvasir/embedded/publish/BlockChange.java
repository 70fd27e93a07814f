package io.kvasir.embedded.publish;

import org.jspecify.annotations.Nullable;

/**
 * One change of a rank's blocks, with what engines publish about it. Blocks go by their sequence
 * hashes. Immutable by contract: arrays are not copied and must not be changed.
 */
@SuppressWarnings("ArrayRecordComponent") // written once, not compared
public sealed interface BlockChange {

  /**
   * A group of layers that share a cache.
   *
   * @param index its number, from 0
   * @param kind the engine's name of what its layers do
   * @param windowTokens tokens that its layers see; 0 for all
   */
  record Group(int index, String kind, int windowTokens) {

    /** The group with full attention. */
    public static final Group FULL = new Group(0, "full_attention", 0);
  }

  /**
   * Blocks were stored, each behind the one before it. Groups that leave blocks out have tokens of
   * those too.
   *
   * @param group the group that stored them
   * @param root whether the first block begins a prompt
   * @param parent the block before the first one; without meaning for a root
   * @param hashes one per block
   * @param tokens the tokens of all blocks, and of those between them
   * @param salt the cache salt of the sequence; null if it has none
   */
  record Stored(
      Group group, boolean root, long parent, long[] hashes, int[] tokens, @Nullable String salt)
      implements BlockChange {}

  /**
   * Blocks were removed.
   *
   * @param group the number of the group that removed them
   * @param hashes one per block
   */
  record Removed(int group, long... hashes) implements BlockChange {}

  /** All blocks of all groups were removed. */
  record Cleared() implements BlockChange {}
}
