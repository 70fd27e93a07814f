package io.kvasir.cli;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** CPython's {@code random.Random(seed).shuffle(list)}, after the description of MT19937. */
final class PythonShuffle {

  private static final int SIZE = 624;
  private static final long WORD = 0xffffffffL;

  private final long[] state = new long[SIZE];
  private int used = SIZE;

  private PythonShuffle(long seed) {
    List<Long> key = new ArrayList<>();
    for (BigInteger rest = BigInteger.valueOf(seed).abs();
        key.isEmpty() || rest.signum() > 0;
        rest = rest.shiftRight(32)) {
      key.add(rest.longValue() & WORD);
    }
    state[0] = 19650218;
    for (int i = 1; i < SIZE; i++) {
      state[i] = (1812433253L * (state[i - 1] ^ (state[i - 1] >>> 30)) + i) & WORD;
    }
    int i = 1;
    for (int k = 0; k < SIZE; k++) {
      int j = k % key.size();
      long mixed = state[i] ^ ((state[i - 1] ^ (state[i - 1] >>> 30)) * 1664525L);
      state[i] = (mixed + key.get(j) + j) & WORD;
      i = next(i);
    }
    for (int k = 1; k < SIZE; k++) {
      long mixed = state[i] ^ ((state[i - 1] ^ (state[i - 1] >>> 30)) * 1566083941L);
      state[i] = (mixed - i) & WORD;
      i = next(i);
    }
    state[0] = 0x80000000L;
  }

  /** The position after another; position 0 is passed over and takes the last word. */
  private int next(int position) {
    if (position + 1 < SIZE) {
      return position + 1;
    }
    state[0] = state[SIZE - 1];
    return 1;
  }

  /** A shuffled copy. */
  static <T> List<T> of(long seed, List<T> list) {
    PythonShuffle random = new PythonShuffle(seed);
    List<T> shuffled = new ArrayList<>(list);
    for (int i = shuffled.size() - 1; i > 0; i--) {
      int bits = 32 - Integer.numberOfLeadingZeros(i + 1);
      long j = random.word() >>> (32 - bits);
      while (j > i) {
        j = random.word() >>> (32 - bits);
      }
      Collections.swap(shuffled, i, (int) j);
    }
    return shuffled;
  }

  private long word() {
    if (used == SIZE) {
      for (int i = 0; i < SIZE; i++) {
        long joined = (state[i] & 0x80000000L) | (state[(i + 1) % SIZE] & 0x7fffffffL);
        state[i] = state[(i + 397) % SIZE] ^ (joined >>> 1) ^ ((joined & 1) == 0 ? 0 : 0x9908b0dfL);
      }
      used = 0;
    }
    long word = state[used++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680L;
    word ^= (word << 15) & 0xefc60000L;
    return word ^ (word >>> 18);
  }
}
