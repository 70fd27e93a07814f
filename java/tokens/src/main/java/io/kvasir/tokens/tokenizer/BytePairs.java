package io.kvasir.tokens.tokenizer;

import java.util.Arrays;
import java.util.PriorityQueue;

/**
 * Divides a word into tokens: starting with single bytes, the adjacent pair whose union has the
 * lowest rank is merged, the leftmost of equal ones, until no union is a token. Not thread-safe.
 */
final class BytePairs {

  /** Below, looking at all pairs is faster than a queue. */
  private static final int SHORT = 64;

  private static final int NONE = Integer.MAX_VALUE;

  private final TiktokenRanks ranks;
  private int[] ids = new int[64];
  private int count;

  /**
   * Makes an empty list of ids.
   *
   * @param ranks the tokens
   */
  BytePairs(TiktokenRanks ranks) {
    this.ranks = ranks;
  }

  /** {@return the ids so far} */
  int[] ids() {
    return Arrays.copyOf(ids, count);
  }

  /**
   * Appends an id.
   *
   * @param id of an added token
   */
  void add(int id) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, 2 * count);
    }
    ids[count++] = id;
  }

  /**
   * Appends the ids of a word. O(n log n), n its length; tokens are taken to be short.
   *
   * @param word UTF-8
   */
  void addWord(byte[] word) {
    int whole = ranks.rank(word, 0, word.length);
    if (whole >= 0) {
      add(whole);
    } else if (word.length > 1) {
      new Word(word).merge();
    }
  }

  /** Parts of a word as a list that is linked by their beginnings. */
  private final class Word {

    private final byte[] word;
    private final int[] next; // where the next part begins; at the end the word's length
    private final int[] previous;
    private final int[] pair; // the rank of the part's union with the next one

    Word(byte[] word) {
      this.word = word;
      next = new int[word.length];
      previous = new int[word.length];
      pair = new int[word.length];
      for (int i = 0; i < word.length; i++) {
        next[i] = i + 1;
        previous[i] = i - 1;
      }
      for (int i = 0; i < word.length; i++) {
        pair[i] = rankOfPair(i);
      }
    }

    private int rankOfPair(int part) {
      if (next[part] == word.length) {
        return NONE;
      }
      int rank = ranks.rank(word, part, next[next[part]]);
      return rank < 0 ? NONE : rank;
    }

    void merge() {
      if (word.length < SHORT) {
        mergeByScan();
      } else {
        mergeByQueue();
      }
      for (int part = 0; part < word.length; part = next[part]) {
        add(ranks.rank(word, part, next[part]));
      }
    }

    private void mergeByScan() {
      while (true) {
        int best = 0;
        for (int part = 0; part < word.length; part = next[part]) {
          if (pair[part] < pair[best]) {
            best = part;
          }
        }
        if (pair[best] == NONE) {
          return;
        }
        join(best);
      }
    }

    private void mergeByQueue() {
      PriorityQueue<Long> queue = new PriorityQueue<>();
      for (int part = 0; part < word.length; part++) {
        offer(queue, part);
      }
      while (!queue.isEmpty()) {
        long first = queue.remove();
        int part = (int) first;
        if (pair[part] == first >>> Integer.SIZE) { // else the pair has changed since
          join(part);
          offer(queue, part);
          if (previous[part] >= 0) {
            offer(queue, previous[part]);
          }
        }
      }
    }

    private void offer(PriorityQueue<Long> queue, int part) {
      if (pair[part] != NONE) {
        queue.add((long) pair[part] << Integer.SIZE | part);
      }
    }

    private void join(int part) {
      int second = next[part];
      next[part] = next[second];
      pair[second] = NONE;
      if (next[part] < word.length) {
        previous[next[part]] = part;
      }
      pair[part] = rankOfPair(part);
      if (previous[part] >= 0) {
        pair[previous[part]] = rankOfPair(previous[part]);
      }
    }
  }
}
