package io.kvasir.engine.pool;

/**
 * Matches a batch of prompts against the pools of several ranks.
 *
 * <p>Confined to one thread, which owns its staging memory.
 */
public interface PrefixMatcher extends AutoCloseable {

  /**
   * Looks every prompt up on every rank that is not retired.
   *
   * @param batch the prompts
   * @return matched tokens (a multiple of the tokens per block) by rank and prompt; 0 on retired
   *     ranks
   */
  PrefixMatches match(ProbeBatch batch);

  /**
   * Leaves a rank out from now on: its pool is lost and must not be used again. O(ranks).
   *
   * @param rank the rank's index; nothing changes if it was left out before
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  void retire(int rank);

  @Override
  void close();
}
