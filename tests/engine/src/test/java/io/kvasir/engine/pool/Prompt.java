package io.kvasir.engine.pool;

import io.kvasir.model.CacheScope;

/**
 * A sequence of tokens with the names of its full blocks.
 *
 * <p>Immutable by contract: the arrays must not be changed.
 *
 * @param tokens the tokens
 * @param names sequence hash of each full block
 * @param scope LoRA adapter and salt
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record Prompt(int[] tokens, long[] names, CacheScope scope) {

  /** Number of full blocks. */
  public int blocks() {
    return names.length;
  }

  /** The same tokens under other names, so that a hash collision can be forced. */
  public Prompt named(long... otherNames) {
    return new Prompt(tokens, otherNames, scope);
  }

  /** The same tokens and names in another scope. */
  public Prompt in(CacheScope otherScope) {
    return new Prompt(tokens, names, otherScope);
  }
}
