package io.kvasir.benchmarks.index;

/**
 * Chains sequence hashes of the {@code kvasir} format in Java, from local hashes alone, with the
 * formula of {@code block_hash_core.hpp}. Stateless.
 */
final class SequenceChain {

  /** The parent hash of the first block of a prompt without a scope. */
  static final long ROOT = 0x243F6A8885A308D3L;

  private static final long MULTIPLIER = 0x0E9846AF9B1A615DL;

  private SequenceChain() {}

  /** The sequence hash of a block after its parent. A bijection of either argument. */
  static long mix(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ x >>> 32) * MULTIPLIER;
    x = (x ^ x >>> 32) * MULTIPLIER;
    return x ^ x >>> 28;
  }

  /** Chains blocks to a parent; {@code sequence} may be {@code local}. */
  static void chain(long parent, long[] local, int count, long[] sequence) {
    long hash = parent;
    for (int i = 0; i < count; i++) {
      hash = mix(hash, local[i]);
      sequence[i] = hash;
    }
  }
}
