package io.kvasir.embedded.ranks;

/** Deterministic random bits: a 64-bit mixer (Stafford's variant 13). Stateless. */
final class Mix {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix() {}

  /** Evenly spread bits of a state and a value. */
  static long of(long state, long value) {
    return mix(state + GOLDEN * (value + 1));
  }

  /** A hash of a token sequence. O(tokens). */
  static long ofTokens(long seed, int[] tokens) {
    long state = of(seed, tokens.length);
    for (int token : tokens) {
      state = (state ^ token) * GOLDEN;
      state ^= state >>> 29;
    }
    return mix(state);
  }

  /** Maps evenly spread bits to 0 (inclusive) to {@code bound} (exclusive). */
  static int below(long bits, int bound) {
    return (int) (((bits >>> 32) * bound) >>> 32);
  }

  private static long mix(long x) {
    long z = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
