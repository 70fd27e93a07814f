package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.function.Predicate;

/**
 * Which rank holds which prefixes, learned from the ranks' block events.
 *
 * <p>One index serves one model at one number of tokens a block. A block's identity is its sequence
 * hash. An event gives it, or gives local hashes, which the index chains behind the parent; a
 * parent given in one form may have children in the other. Events refer to blocks by handles
 * ({@link BlockEvent}). A rank holds a block as long as one of its handles names it. A match is the
 * number of leading blocks that a rank holds without a hole; a block behind a hole counts again
 * once the hole is filled, under whatever handle.
 *
 * <p>Thread-safe. Matches never wait, for changes or for each other. Changes of one rank take
 * effect in the order of their calls.
 */
public interface PrefixIndex extends AutoCloseable {

  /**
   * Applies an event. All or nothing, except that unknown handles in a removal are passed over. Its
   * naming is not looked at: a caller must not mix namings in one index.
   *
   * @param rank whose
   * @param event what changed
   * @return what became of it
   * @throws IllegalArgumentException if the index cannot chain the event's local hashes
   */
  ChangeStatus apply(RankId rank, BlockEvent event);

  /**
   * Forgets a rank.
   *
   * @param rank which; unknown ones are passed over
   */
  void removeRank(RankId rank);

  /**
   * Lets a rank be matched, or not. Changes go on being applied to a hidden rank.
   *
   * @param rank which; it need not be known yet
   * @param visible whether it may be matched
   */
  void setVisible(RankId rank, boolean visible);

  /**
   * Finds how many leading blocks of a prompt each rank holds.
   *
   * @param sequenceHashes the prompt's, from its first block
   * @param blocks how many of them count
   * @param matches is filled with all visible ranks that hold at least the first block
   */
  void match(long[] sequenceHashes, int blocks, RankMatches matches);

  /**
   * Finds how many leading blocks of a prompt each of some ranks holds.
   *
   * @param sequenceHashes the prompt's, from its first block
   * @param blocks how many of them count
   * @param candidates the ranks that count
   * @param matches is filled with those that hold at least the first block
   */
  default void match(
      long[] sequenceHashes, int blocks, Predicate<RankId> candidates, RankMatches matches) {
    match(sequenceHashes, blocks, matches);
    matches.retain(candidates);
  }

  /**
   * A request has been placed on a rank, whose engine has not reported its blocks yet. An index may
   * count them as held for some time. O(blocks).
   *
   * @param rank the rank
   * @param prompt the hashes of the prompt's full blocks
   */
  default void onPlaced(RankId rank, BlockHashes prompt) {}

  /**
   * Counts and memory.
   *
   * @return a snapshot
   */
  IndexStats stats();

  @Override
  void close();
}
