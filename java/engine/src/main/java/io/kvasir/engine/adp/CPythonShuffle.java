package io.kvasir.engine.adp;

import java.util.Arrays;

/**
 * The permutation that CPython's {@code random.Random(seed).shuffle(list(range(n)))} produces.
 *
 * <p>Seeding initialises the whole Mersenne Twister state (MT19937, {@code init_by_array} over the
 * 32-bit words of |seed|) and dominates the cost. Generation is lazy: the state advances one word
 * per number drawn, which yields the same numbers as advancing all of it at once.
 *
 * <p>Not thread-safe: the state is reused.
 *
 * @see <a href="https://doi.org/10.1145/272991.272995">Matsumoto, Nishimura: Mersenne Twister
 *     (1998)</a>
 */
final class CPythonShuffle {

  private static final int WORDS = 624;
  private static final int DISTANCE = 397;

  /** The initial state of {@code init_by_array}, which is the same for every seed. */
  private static final int[] START = start();

  private final int[] state = new int[WORDS];
  private int next;
  private final int[] order;

  CPythonShuffle(int maxSize) {
    this.order = new int[maxSize];
  }

  /**
   * The candidate that comes first in the shuffled order of {@code 0 .. size - 1}.
   *
   * @param positions the candidates, ascending, in the first {@code count} entries
   */
  int firstOf(int[] positions, int count, long seed, int size) {
    int[] shuffled = shuffle(seed, size);
    int i = 0;
    while (Arrays.binarySearch(positions, 0, count, shuffled[i]) < 0) {
      i++;
    }
    return shuffled[i];
  }

  /** The shuffled order of {@code 0 .. size - 1}; valid until the next call. */
  int[] shuffle(long seed, int size) {
    for (int i = 0; i < size; i++) {
      order[i] = i;
    }
    if (size > 1) {
      seed(seed);
    }
    for (int i = size - 1; i > 0; i--) {
      int j = below(i + 1);
      int swapped = order[i];
      order[i] = order[j];
      order[j] = swapped;
    }
    return order;
  }

  private int below(int bound) {
    int shift = Integer.numberOfLeadingZeros(bound);
    int drawn;
    do {
      drawn = nextWord() >>> shift;
    } while (drawn >= bound);
    return drawn;
  }

  private static int[] start() {
    int[] words = new int[WORDS];
    words[0] = 19650218;
    for (int i = 1; i < WORDS; i++) {
      words[i] = 1812433253 * (words[i - 1] ^ (words[i - 1] >>> 30)) + i;
    }
    return words;
  }

  private void seed(long seed) {
    long magnitude = Math.abs(seed); // of Long.MIN_VALUE: itself, which reads as 2^63 unsigned
    int even = (int) magnitude;
    int high = (int) (magnitude >>> 32);
    int odd = high == 0 ? even : high + 1; // the second key word is added with its index
    System.arraycopy(START, 0, state, 0, WORDS);
    int previous = state[0];
    for (int i = 1; i < WORDS; i++) {
      int word = (i & 1) == 1 ? even : odd;
      previous = (state[i] ^ ((previous ^ (previous >>> 30)) * 1664525)) + word;
      state[i] = previous;
    }
    // The reference wraps around here: one more step at word 1, with the last word as word 0.
    previous = (state[1] ^ ((previous ^ (previous >>> 30)) * 1664525)) + odd;
    state[1] = previous;
    for (int i = 2; i < WORDS; i++) {
      previous = (state[i] ^ ((previous ^ (previous >>> 30)) * 1566083941)) - i;
      state[i] = previous;
    }
    state[1] = (state[1] ^ ((previous ^ (previous >>> 30)) * 1566083941)) - 1;
    state[0] = 0x80000000;
    next = 0;
  }

  private int nextWord() {
    int i = next;
    int following = i + 1 < WORDS ? i + 1 : 0;
    int distant = i + DISTANCE < WORDS ? i + DISTANCE : i + DISTANCE - WORDS;
    int mixed = (state[i] & 0x80000000) | (state[following] & 0x7fffffff);
    int word = state[distant] ^ (mixed >>> 1) ^ (-(mixed & 1) & 0x9908b0df);
    state[i] = word;
    next = following;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return word ^ (word >>> 18);
  }
}
