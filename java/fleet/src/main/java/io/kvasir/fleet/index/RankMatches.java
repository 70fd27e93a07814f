package io.kvasir.fleet.index;

import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * The ranks that match one prompt, with their matched blocks, in no order. Reused between look-ups.
 * Not thread-safe.
 */
public final class RankMatches {

  private RankId[] ranks = new RankId[16];
  private int[] blocks = new int[16];
  private boolean[] predicted = new boolean[16];
  private int size;

  /** Scratch space for an index: slots and their matched blocks. */
  int[] slots = new int[0];

  int[] depths = new int[0];

  /** Creates an empty result. */
  public RankMatches() {}

  /** Removes all ranks. */
  public void clear() {
    Arrays.fill(ranks, 0, size, null);
    size = 0;
  }

  /**
   * Adds a rank that is not present yet.
   *
   * @param rank the rank
   * @param matchedBlocks its matched blocks, at least 1
   */
  public void add(RankId rank, int matchedBlocks) {
    add(rank, matchedBlocks, false);
  }

  /** Adds a rank, some of whose blocks may not be known but only predicted. */
  void add(RankId rank, int matchedBlocks, boolean hasPredicted) {
    if (size == blocks.length) {
      ranks = Arrays.copyOf(ranks, 2 * size);
      blocks = Arrays.copyOf(blocks, 2 * size);
      predicted = Arrays.copyOf(predicted, 2 * size);
    }
    ranks[size] = rank;
    predicted[size] = hasPredicted;
    blocks[size++] = matchedBlocks;
  }

  /** Adds the ranks of another look-up, which must not be present yet. O(its ranks). */
  void copy(RankMatches others) {
    for (int i = 0; i < others.size; i++) {
      add(others.ranks[i], others.blocks[i], others.predicted[i]);
    }
  }

  /**
   * Adds the ranks of a look-up of predicted blocks, which must not be present yet. O(its ranks).
   */
  void addPredicted(RankMatches others) {
    for (int i = 0; i < others.size; i++) {
      add(others.ranks[i], others.blocks[i], true);
    }
  }

  /**
   * Adds the matched blocks of another look-up, for a request with several prompts. O(its ranks *
   * ranks present).
   *
   * @param others the other look-up
   */
  public void addUp(RankMatches others) {
    for (int i = 0; i < others.size; i++) {
      int at = 0;
      while (at < size && !ranks[at].equals(others.ranks[i])) {
        at++;
      }
      if (at < size) {
        blocks[at] += others.blocks[i];
        predicted[at] |= others.predicted[i];
      } else {
        add(others.ranks[i], others.blocks[i], others.predicted[i]);
      }
    }
  }

  /**
   * Removes all ranks but the candidates. O(ranks present).
   *
   * @param candidates the ranks to keep
   */
  public void retain(Predicate<RankId> candidates) {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (candidates.test(ranks[i])) {
        ranks[kept] = ranks[i];
        predicted[kept] = predicted[i];
        blocks[kept++] = blocks[i];
      }
    }
    Arrays.fill(ranks, kept, size, null);
    size = kept;
  }

  /** Grows the scratch space to this many slots. */
  void reserve(int slotCount) {
    if (slots.length < slotCount) {
      slots = new int[slotCount];
      depths = new int[slotCount];
    }
  }

  /** {@return the number of ranks, at least 0} */
  public int size() {
    return size;
  }

  /**
   * A rank by its position.
   *
   * @param i the position, from 0
   * @return the rank
   */
  public RankId rank(int i) {
    return ranks[i];
  }

  /**
   * Matched blocks by position.
   *
   * @param i the position, from 0
   * @return matched blocks, at least 1
   */
  public int blocks(int i) {
    return blocks[i];
  }

  /**
   * Whether some of the matched blocks are only predicted, because their prompt was placed a moment
   * ago.
   *
   * @param i the position, from 0
   * @return false if the rank is known to hold all of them
   */
  public boolean hasPredicted(int i) {
    return predicted[i];
  }

  /**
   * Matched blocks of a rank. O(ranks present).
   *
   * @param rank the rank
   * @return matched blocks; 0 if the rank is not present
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
