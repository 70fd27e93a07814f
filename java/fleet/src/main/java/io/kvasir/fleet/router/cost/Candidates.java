package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;

/**
 * The ranks among which a selector chooses, with what they hold of the request and what they do.
 *
 * <p>Candidates go by their position, from 0, in the order of their {@link RankId}s. Valid during
 * one call of a selector only. Confined to the calling thread. Every method is O(1).
 */
public interface Candidates {

  /**
   * Number of candidates.
   *
   * @return at least 1
   */
  int size();

  /**
   * Tokens of one block.
   *
   * @return at least 1
   */
  int tokensPerBlock();

  /**
   * Whether the request's prefill is the candidates' work, and booked as such.
   *
   * @return false, for example, if they only decode
   */
  boolean tracksPrefill();

  /**
   * Who it is.
   *
   * @param i which candidate
   * @return its identity
   */
  RankId rank(int i);

  /**
   * Leading blocks of the request that the rank's cache holds.
   *
   * @param i which candidate
   * @return 0 to the request's blocks
   */
  int overlapBlocks(int i);

  /**
   * Prompt tokens booked on the rank that it has still to compute.
   *
   * @param i which candidate
   * @return at least 0
   */
  long activePrefillTokens(int i);

  /**
   * Blocks that requests booked on the rank use, shared ones counted once.
   *
   * @param i which candidate
   * @return at least 0
   */
  long activeBlocks(int i);

  /**
   * Blocks of the request that no request booked on the rank uses.
   *
   * @param i which candidate
   * @return at least 0
   */
  int newBlocks(int i);

  /**
   * Requests booked on the rank.
   *
   * @param i which candidate
   * @return at least 0
   */
  int activeRequests(int i);

  /**
   * What the rank can take.
   *
   * @param i which candidate
   * @return its capacity
   */
  RankCapacity capacity(int i);
}
