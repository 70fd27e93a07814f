package io.kvasir.engine.adp;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** {@code random.Random(seed)}: MT19937 in 64-bit arithmetic, the whole state at a time. */
final class PythonRandom {

  private static final long MASK = 0xffffffffL;
  private final long[] state = new long[624];
  private int used = 624;

  PythonRandom(long seed) {
    List<Long> key = new ArrayList<>();
    BigInteger rest = BigInteger.valueOf(seed).abs();
    do {
      key.add(rest.longValue() & MASK);
      rest = rest.shiftRight(32);
    } while (rest.signum() != 0);
    state[0] = 19650218;
    for (int i = 1; i < 624; i++) {
      state[i] = (1812433253L * (state[i - 1] ^ (state[i - 1] >> 30)) + i) & MASK;
    }
    int i = 1;
    int j = 0;
    for (int k = 0; k < 624; k++) {
      long mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1664525L;
      state[i] = ((state[i] ^ mixed) + key.get(j) + j) & MASK;
      j = (j + 1) % key.size();
      i = following(i);
    }
    for (int k = 0; k < 623; k++) {
      long mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941L;
      state[i] = ((state[i] ^ mixed) - i) & MASK;
      i = following(i);
    }
    state[0] = 0x80000000L;
  }

  private int following(int i) {
    if (i + 1 < 624) {
      return i + 1;
    }
    state[0] = state[623];
    return 1;
  }

  private long nextWord() {
    if (used == 624) {
      for (int i = 0; i < 624; i++) {
        long y = (state[i] & 0x80000000L) | (state[(i + 1) % 624] & 0x7fffffffL);
        state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y % 2 == 1 ? 0x9908b0dfL : 0);
      }
      used = 0;
    }
    long y = state[used++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680L;
    y ^= (y << 15) & 0xefc60000L;
    return y ^ (y >> 18);
  }

  <T> void shuffle(List<T> list) {
    for (int i = list.size() - 1; i > 0; i--) {
      int bits = Integer.toBinaryString(i + 1).length();
      long j;
      do {
        j = nextWord() >> (32 - bits);
      } while (j > i);
      Collections.swap(list, i, (int) j);
    }
  }
}
