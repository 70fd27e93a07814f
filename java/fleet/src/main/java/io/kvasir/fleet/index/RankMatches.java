package io.kvasir.fleet.index;

import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * The ranks that hold the beginning of one prompt, and how many of its blocks; in no order. Reused
 * from one look-up to the next. Not thread-safe.
 */
public final class RankMatches {

  private RankId[] ranks = new RankId[16];
  private int[] blocks = new int[16];
  private int size;

  /** Room for an index's own numbers of ranks and their blocks. */
  int[] slots = new int[0];

  int[] depths = new int[0];

  /** Matches of no rank yet. */
  public RankMatches() {}

  /** Forgets all ranks. */
  public void clear() {
    Arrays.fill(ranks, 0, size, null);
    size = 0;
  }

  /**
   * Adds a rank that is not here yet.
   *
   * @param rank which
   * @param matchedBlocks how many leading blocks it holds, at least 1
   */
  public void add(RankId rank, int matchedBlocks) {
    if (size == blocks.length) {
      ranks = Arrays.copyOf(ranks, 2 * size);
      blocks = Arrays.copyOf(blocks, 2 * size);
    }
    ranks[size] = rank;
    blocks[size++] = matchedBlocks;
  }

  /**
   * Forgets all other ranks. O(ranks here).
   *
   * @param candidates the ranks to keep
   */
  public void retain(Predicate<RankId> candidates) {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (candidates.test(ranks[i])) {
        ranks[kept] = ranks[i];
        blocks[kept++] = blocks[i];
      }
    }
    Arrays.fill(ranks, kept, size, null);
    size = kept;
  }

  /** Makes room for so many slots. */
  void reserve(int slotCount) {
    if (slots.length < slotCount) {
      slots = new int[slotCount];
      depths = new int[slotCount];
    }
  }

  /**
   * Number of ranks.
   *
   * @return at least 0
   */
  public int size() {
    return size;
  }

  /**
   * A rank.
   *
   * @param i which, from 0
   * @return its identity
   */
  public RankId rank(int i) {
    return ranks[i];
  }

  /**
   * What that rank holds.
   *
   * @param i which, from 0
   * @return leading blocks, at least 1
   */
  public int blocks(int i) {
    return blocks[i];
  }

  /**
   * What a rank holds. O(ranks here).
   *
   * @param rank which
   * @return leading blocks; 0 if it is not here
   */
  public int blocks(RankId rank) {
    for (int i = 0; i < size; i++) {
      if (ranks[i].equals(rank)) {
        return blocks[i];
      }
    }
    return 0;
  }
}
