package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;

/**
 * The ranks among which a selector chooses, with their matches and loads.
 *
 * <p>A candidate is named by its position, from 0, in the order of the {@link RankId}s. Valid
 * during one call of a selector only. Confined to the calling thread. Every method is O(1).
 */
public interface Candidates {

  /** {@return the number of candidates, at least 1} */
  int size();

  /** {@return the number of tokens of one block, at least 1} */
  int tokensPerBlock();

  /**
   * {@return whether the request's prefill is booked on its rank; false, for example, for ranks
   * that only decode}
   */
  boolean tracksPrefill();

  /** {@return how long the request has waited for room, in nanoseconds} */
  default long waitedNs() {
    return 0;
  }

  /**
   * The rank at a position.
   *
   * @param i the candidate's position
   * @return its identity
   */
  RankId rank(int i);

  /**
   * Leading blocks of the request that the rank's cache holds.
   *
   * @param i the candidate's position
   * @return 0 to the request's blocks
   */
  int matchedBlocks(int i);

  /**
   * Prompt tokens booked on the rank that it has still to compute.
   *
   * @param i the candidate's position
   * @return at least 0
   */
  long activePrefillTokens(int i);

  /**
   * Blocks that requests booked on the rank use, shared ones counted once.
   *
   * @param i the candidate's position
   * @return at least 0
   */
  long activeBlocks(int i);

  /**
   * Blocks of the request that no request booked on the rank uses.
   *
   * @param i the candidate's position
   * @return at least 0
   */
  int newBlocks(int i);

  /**
   * Requests booked on the rank.
   *
   * @param i the candidate's position
   * @return at least 0
   */
  int activeRequests(int i);

  /**
   * When the rank was chosen last.
   *
   * @param i the candidate's position
   * @return the number of that choice among all choices, from 1; 0 if it never was, or if that is
   *     not known
   */
  default long lastChosen(int i) {
    return 0;
  }

  /**
   * The rank's capacity.
   *
   * @param i the candidate's position
   * @return what it can take, as far as it is known
   */
  RankCapacity capacity(int i);
}
