package io.kvasir.engine.execute;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.CacheScope;

/** A block hasher of a few lines. With few bits it makes names collide. */
final class ChainHasher implements BlockHasher {

  private final int tokensPerBlock;
  private final long mask;

  ChainHasher(int tokensPerBlock) {
    this(tokensPerBlock, 64);
  }

  ChainHasher(int tokensPerBlock, int bits) {
    this.tokensPerBlock = tokensPerBlock;
    this.mask = -1L >>> (64 - bits);
  }

  @Override
  public HashFormat format() {
    return HashFormat.KVASIR;
  }

  @Override
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  @Override
  public void hashBlocks(
      CacheScope scope, int[] tokens, int fromBlock, int toBlock, long[] local, long[] sequence) {
    for (int block = fromBlock; block < toBlock; block++) {
      long hash = block == 0 ? scope.hashCode() : sequence[block - 1];
      for (int i = block * tokensPerBlock; i < (block + 1) * tokensPerBlock; i++) {
        hash = Mix64.mix(hash + Mix64.GOLDEN * (tokens[i] + 1));
      }
      local[block] = hash & mask;
      sequence[block] = hash & mask;
    }
  }
}
