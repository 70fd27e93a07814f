package io.kvasir.benchmarks;

/**
 * The {@code kvasir} block hash format in Java, for a prompt without a scope: XXH3-64 of each block
 * by any library, then the parent mix of {@code block_hash_core.hpp}.
 *
 * <p>Stateless.
 */
final class JavaBlockHash {

  /** XXH3-64 of a block, by block index. */
  interface Local {
    long of(int block);
  }

  private static final long ROOT = 0x243F6A8885A308D3L;
  private static final long MULTIPLIER = 0x0E9846AF9B1A615DL;

  private JavaBlockHash() {}

  static void hash(Local hasher, long[] local, long[] sequence) {
    long parent = ROOT;
    for (int block = 0; block < sequence.length; block++) {
      long hash = hasher.of(block);
      local[block] = hash;
      parent = mix(parent, hash);
      sequence[block] = parent;
    }
  }

  private static long mix(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ x >>> 32) * MULTIPLIER;
    x = (x ^ x >>> 32) * MULTIPLIER;
    return x ^ x >>> 28;
  }
}
