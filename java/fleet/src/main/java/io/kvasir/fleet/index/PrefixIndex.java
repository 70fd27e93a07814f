package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which rank holds which prefixes from the ranks' block events.
 *
 * <p>One index serves one model with one block size. Blocks are identified by sequence hash. An
 * event carries sequence hashes, or local hashes that the index chains to the parent; a parent
 * given in one form may have children in the other. Events refer to blocks by handles ({@link
 * BlockEvent}). A rank holds a block while at least one of its handles names it. A match is the
 * number of contiguous leading blocks that a rank holds; a block behind a missing one counts again
 * once the missing block is stored, under any handle.
 *
 * <p>Thread-safe. Matches never block on changes or on each other. Changes of one rank take effect
 * in the order of their calls.
 */
public interface PrefixIndex extends AutoCloseable {

  /** Stands for the group of {@link BlockEvent.Stored}. */
  int MAIN_GROUP = -1;

  /**
   * Applies an event. Atomic, except that unknown handles in a removal are skipped. A caller must
   * not mix namings in one index.
   *
   * @param rank the event's rank
   * @param event the change
   * @return the outcome
   * @throws IllegalArgumentException if the index cannot chain the event's local hashes, or the
   *     event names the blocks that it stores in another format than the index
   */
  ChangeStatus apply(RankId rank, BlockEvent event);

  /**
   * Removes a rank and its blocks.
   *
   * @param rank the rank; ignored if unknown
   */
  void removeRank(RankId rank);

  /**
   * Shows or hides a rank. Changes are still applied to a hidden rank.
   *
   * @param rank the rank; it need not be known yet
   * @param visible whether the rank can match
   */
  void setVisible(RankId rank, boolean visible);

  /**
   * Finds the matched blocks of a prompt on each rank.
   *
   * @param sequenceHashes the prompt's sequence hashes, from its first block
   * @param blocks how many of them to match
   * @param matches receives all visible ranks that hold at least the first block
   */
  void match(long[] sequenceHashes, int blocks, RankMatches matches);

  /**
   * Finds the matched blocks of a prompt on each of some ranks.
   *
   * @param sequenceHashes the prompt's sequence hashes, from its first block
   * @param blocks how many of them to match
   * @param candidates the ranks to consider
   * @param matches receives those that hold at least the first block
   */
  default void match(
      long[] sequenceHashes, int blocks, Predicate<RankId> candidates, RankMatches matches) {
    match(sequenceHashes, blocks, matches);
    matches.retain(candidates);
  }

  /**
   * Finds the matched blocks of a prompt on each rank, visible or not.
   *
   * @param sequenceHashes the prompt's sequence hashes, from its first block
   * @param blocks how many of them to match
   * @param matches receives all ranks that hold at least the first block; without hidden ones if
   *     the index cannot tell what those hold
   */
  default void matchAll(long[] sequenceHashes, int blocks, RankMatches matches) {
    match(sequenceHashes, blocks, matches);
  }

  /**
   * Records that a request was placed on a rank whose engine has not reported its blocks yet. An
   * index may count them as held for some time. O(blocks).
   *
   * @param rank the rank
   * @param prompt the hashes of the prompt's full blocks
   */
  default void onPlaced(RankId rank, BlockHashes prompt) {}

  /**
   * Finds the block that a rank's handle names, as of the changes so far. O(1).
   *
   * @param rank the rank
   * @param handle the handle
   * @return the block's sequence hash; null if the rank has no such handle, or the index keeps none
   */
  default @Nullable Long sequenceHash(RankId rank, long handle) {
    return null;
  }

  /**
   * Finds which of some handles a rank has, as of the changes so far. O(handles).
   *
   * @param rank the rank
   * @param group the engine's number of a further cache group, whose handles they are; {@link
   *     #MAIN_GROUP} for others
   * @param handles the handles
   * @param found receives those that it has, in their order; at least as long
   * @return how many they are; 0 if the index keeps none
   */
  default int known(RankId rank, int group, long[] handles, long[] found) {
    int known = 0;
    for (long handle : handles) {
      if (sequenceHash(rank, handle) != null) {
        found[known++] = handle;
      }
    }
    return known;
  }

  /**
   * {@return the handles of a rank, at least 0; 0 if the index keeps none}
   *
   * @param rank the rank
   */
  default long handles(RankId rank) {
    return 0;
  }

  /** {@return the part of this index that follows events alone; itself if it predicts nothing} */
  default PrefixIndex confirmed() {
    return this;
  }

  /** {@return a snapshot of counts and memory use} */
  IndexStats stats();

  @Override
  void close();
}
