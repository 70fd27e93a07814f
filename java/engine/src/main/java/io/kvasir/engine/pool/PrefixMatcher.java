package io.kvasir.engine.pool;

/**
 * Matches a batch of prompts against the pools of several ranks.
 *
 * <p>Confined to one thread.
 */
public interface PrefixMatcher extends AutoCloseable {

  /**
   * Matches every prompt on every rank that is not retired.
   *
   * @param batch the prompts
   * @return matched tokens (a multiple of the tokens per block) by rank and prompt; 0 on retired
   *     ranks
   */
  PrefixMatches match(ProbeBatch batch);

  /**
   * Retires a rank permanently. Its pool is not used again. O(ranks).
   *
   * @param rank the rank's index; no effect if it is retired already
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  void retire(int rank);

  @Override
  void close();
}
