package io.kvasir.event;

import io.kvasir.model.Checks;

/**
 * A group of layers of a hybrid model that share a cache, as vLLM's KV cache groups. Which of its
 * blocks a prompt needs depends on the kind.
 *
 * @param index the engine's number of the group, at least 0
 * @param kind what it needs
 * @param blocks for {@link Kind#WINDOW}, how many blocks before the end of a prefix it needs, at
 *     least 1; without meaning for other kinds
 */
public record CacheGroup(int index, Kind kind, int blocks) {

  /** What must be held of a prefix of L blocks, so that it can be reused. */
  public enum Kind {
    /** All blocks. */
    FULL,
    /** The last blocks, or all where there are fewer. */
    WINDOW,
    /** The last block, with the state of recurrent layers at its end. */
    STATE
  }

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if a number is below 0
   */
  public CacheGroup {
    Checks.atLeast("index", index, 0);
    Checks.atLeast("blocks", blocks, 0);
  }

  /**
   * A group of layers with a sliding window. It needs one block at least, as vLLM's look-up does.
   *
   * @param index the engine's number of the group
   * @param windowTokens tokens that a layer sees, the current one included, at least 1
   * @param tokensPerBlock tokens of a block, at least 1
   * @return the group
   */
  public static CacheGroup window(int index, int windowTokens, int tokensPerBlock) {
    int before = windowTokens - 1;
    int blocks = before / tokensPerBlock + (before % tokensPerBlock > 0 ? 1 : 0);
    return new CacheGroup(index, Kind.WINDOW, Math.max(1, blocks));
  }
}
