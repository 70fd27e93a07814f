package io.kvasir.testing.pool;

import io.kvasir.model.CacheScope;

/**
 * A sequence of tokens with the sequence hashes of its full blocks, called names.
 *
 * <p>Immutable by contract: the arrays must not be changed.
 *
 * @param tokens the tokens
 * @param names sequence hash of each full block
 * @param scope LoRA adapter and salt
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record Prompt(int[] tokens, long[] names, CacheScope scope) {

  /**
   * Number of full blocks.
   *
   * @return the count
   */
  public int blocks() {
    return names.length;
  }

  /**
   * The same tokens with other sequence hashes, to force a hash collision.
   *
   * @param otherNames the names
   * @return the new prompt
   */
  public Prompt named(long... otherNames) {
    return new Prompt(tokens, otherNames, scope);
  }

  /**
   * The same tokens and names in another scope.
   *
   * @param otherScope the scope
   * @return the new prompt
   */
  public Prompt in(CacheScope otherScope) {
    return new Prompt(tokens, names, otherScope);
  }
}
