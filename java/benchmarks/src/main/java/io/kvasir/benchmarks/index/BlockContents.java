package io.kvasir.benchmarks.index;

import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.Arrays;

/**
 * The local hashes of blocks whose tokens are one id, repeated {@link #TOKENS} times. Immutable; 8
 * bytes per id.
 */
final class BlockContents {

  /** Tokens of a block. */
  static final int TOKENS = 128;

  private static final int BATCH = 512;

  private final long[] localHashes;
  private final long hashNs;

  private BlockContents(long[] localHashes, long hashNs) {
    this.localHashes = localHashes;
    this.hashNs = hashNs;
  }

  /** Hashes the blocks of the ids from 0 to {@code ids} - 1. O(ids). */
  static BlockContents of(int ids) {
    NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS);
    long[] localHashes = new long[ids];
    int[] tokens = new int[BATCH * TOKENS];
    long[] local = new long[BATCH];
    long[] sequence = new long[BATCH];
    long ns = 0;
    for (int from = 0; from < ids; from += BATCH) {
      int count = Math.min(BATCH, ids - from);
      for (int i = 0; i < count; i++) {
        Arrays.fill(tokens, i * TOKENS, (i + 1) * TOKENS, from + i);
      }
      long begin = System.nanoTime();
      hasher.hashBlocks(CacheScope.NONE, tokens, 0, count, local, sequence);
      ns += System.nanoTime() - begin;
      System.arraycopy(local, 0, localHashes, from, count);
    }
    return new BlockContents(localHashes, ns);
  }

  /** Time spent in the hasher. */
  long hashNs() {
    return hashNs;
  }

  /** The local hashes of blocks. */
  long[] local(int[] ids) {
    long[] local = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      local[i] = localHashes[ids[i]];
    }
    return local;
  }
}
