package io.kvasir.simulator.replay;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.CacheScope;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;

/**
 * A hasher that remembers of every block that was hashed which local hash its sequence hash has.
 * Real events carry the tokens; those of pools carry the sequence hash alone.
 *
 * <p>Unlike others, confined to the thread that drives the replay. 16 bytes a block and more.
 */
final class KnownHasher implements BlockHasher {

  private final BlockHasher hasher;
  private final Long2LongOpenHashMap localOf;

  /** Hashes as another hasher does, and adds to what is known. */
  KnownHasher(BlockHasher hasher, Long2LongOpenHashMap localOf) {
    this.hasher = hasher;
    this.localOf = localOf;
  }

  /** Adds what somebody else has hashed. */
  static void learn(Long2LongOpenHashMap localOf, BlockHashes hashes) {
    for (int block = 0; block < hashes.blocks(); block++) {
      localOf.put(hashes.sequence()[block], hashes.local()[block]);
    }
  }

  @Override
  public HashFormat format() {
    return hasher.format();
  }

  @Override
  public int tokensPerBlock() {
    return hasher.tokensPerBlock();
  }

  @Override
  public void hashBlocks(
      CacheScope scope, int[] tokens, int fromBlock, int toBlock, long[] local, long[] sequence) {
    hasher.hashBlocks(scope, tokens, fromBlock, toBlock, local, sequence);
    for (int block = fromBlock; block < toBlock; block++) {
      localOf.put(sequence[block], local[block]);
    }
  }
}
