package io.kvasir.pool;

import io.kvasir.model.PrefixMatches;

/**
 * Matches a batch of prompts against the pools of several ranks.
 *
 * <p>Confined to one thread, which owns its staging memory.
 */
public interface PrefixMatcher extends AutoCloseable {

  /**
   * Looks every prompt up on every rank.
   *
   * @param batch the prompts
   * @return matched tokens (a multiple of the tokens per block) by rank and prompt
   */
  PrefixMatches match(ProbeBatch batch);

  @Override
  void close();
}
