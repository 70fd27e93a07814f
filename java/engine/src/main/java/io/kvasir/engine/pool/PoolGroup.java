package io.kvasir.engine.pool;

import io.kvasir.event.CacheGroup;
import io.kvasir.model.Checks;

/**
 * A group of layers of a hybrid model that caches less than full attention does, in addition to the
 * full attention of the pool itself.
 *
 * <p>Immutable.
 *
 * @param kind {@link CacheGroup.Kind#WINDOW} or {@link CacheGroup.Kind#STATE}
 * @param tokens of a window, how many a layer sees, the current one included; of states, the
 *     distance between two that are kept; 0 keeps one after each block
 */
public record PoolGroup(CacheGroup.Kind kind, int tokens) {

  /** Name of full attention in {@link #id}. */
  public static final String FULL = "full";

  /** Name of a window in {@link #id}. */
  public static final String WINDOW = "window";

  /** Name of states in {@link #id}. */
  public static final String STATES = "mamba";

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if the group has full attention, or a number is out of range
   */
  public PoolGroup {
    if (kind == CacheGroup.Kind.FULL) {
      throw new IllegalArgumentException("the pool itself is the group with full attention");
    }
    Checks.atLeast("tokens", tokens, kind == CacheGroup.Kind.WINDOW ? 2 : 0);
  }

  /**
   * Layers with a sliding window.
   *
   * @param tokens tokens that a layer sees, the current one included, at least 2
   * @return the group
   */
  public static PoolGroup window(int tokens) {
    return new PoolGroup(CacheGroup.Kind.WINDOW, tokens);
  }

  /**
   * Recurrent layers.
   *
   * @param everyTokens distance between two states that are kept; 0 keeps one after each block
   * @return the group
   */
  public static PoolGroup states(int everyTokens) {
    return new PoolGroup(CacheGroup.Kind.STATE, everyTokens);
  }

  /**
   * {@return what the group needs of a prefix}
   *
   * @param index number of the group, at least 1
   * @param tokensPerBlock tokens of a block
   */
  public CacheGroup cacheGroup(int index, int tokensPerBlock) {
    return kind == CacheGroup.Kind.WINDOW
        ? CacheGroup.window(index, tokens, tokensPerBlock)
        : new CacheGroup(index, kind, 1);
  }

  /**
   * {@return how many blocks end where one of them is kept: 1 for a window}
   *
   * @param tokensPerBlock tokens of a block
   * @throws IllegalArgumentException if states are not kept at the ends of blocks
   */
  public int everyBlocks(int tokensPerBlock) {
    if (kind == CacheGroup.Kind.WINDOW || tokens == 0) {
      return 1;
    }
    if (tokens % tokensPerBlock != 0) {
      throw new IllegalArgumentException(
          "states must be kept every multiple of " + tokensPerBlock + " tokens, not " + tokens);
    }
    return tokens / tokensPerBlock;
  }

  /**
   * {@return its name with its number of tokens, for example {@code window:128} or {@code mamba}}
   */
  public String id() {
    String name = kind == CacheGroup.Kind.WINDOW ? WINDOW : STATES;
    return tokens == 0 ? name : name + ":" + tokens;
  }
}
