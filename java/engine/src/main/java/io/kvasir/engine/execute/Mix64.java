package io.kvasir.engine.execute;

/** A bijective 64-bit finaliser (Stafford's variant 13 of MurmurHash3's). */
final class Mix64 {

  /** An odd constant: 2^64 divided by the golden ratio. */
  static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix64() {}

  static long mix(long x) {
    long z = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Maps evenly spread bits to 0 (inclusive) to {@code bound} (exclusive). */
  static int below(long bits, int bound) {
    return (int) (((bits >>> 32) * bound) >>> 32);
  }
}
