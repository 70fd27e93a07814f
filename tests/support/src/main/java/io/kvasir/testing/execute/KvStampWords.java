package io.kvasir.testing.execute;

import io.kvasir.model.CacheScope;

/**
 * Computes the words of {@link KvStampEngine}: {@code kv_stamp_core.hpp} in Java.
 *
 * <p>Stateless.
 */
final class KvStampWords {

  /** An odd number without structure: 2^64 divided by the golden ratio. */
  static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private KvStampWords() {}

  /** A bijective 64-bit finaliser (Stafford's variant 13 of MurmurHash3's). */
  static long mix(long x) {
    long z = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Maps evenly distributed bits to 0 (inclusive) to {@code bound} (exclusive). */
  static int below(long bits, int bound) {
    return (int) (((bits >>> 32) * bound) >>> 32);
  }

  /** The word before the first position. */
  static long scope(CacheScope scope) {
    long mixed = mix(scope.presenceMask() + GOLDEN);
    return mix(mix(mixed + scope.loraTaskId()) + scope.saltId());
  }
}
