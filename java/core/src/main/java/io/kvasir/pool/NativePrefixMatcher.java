package io.kvasir.pool;

import io.kvasir.internal.nativelib.KvasirLibrary;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.PrefixMatches;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * Looks a batch up in the native pools of all ranks in one crossing; the look-ups' cache misses
 * overlap.
 *
 * <p>Confined to one thread. Safe beside the pools' owners.
 */
public final class NativePrefixMatcher implements PrefixMatcher {

  private final List<NativeBlockPool> pools;
  private final int tokensPerBlock;
  private final LongBuffer poolAddresses;
  private final long poolAddressesAddress;
  private IntBuffer matched;
  private long matchedAddress;
  private int[] matchedBlocks;

  /**
   * Makes a matcher; it does not own the pools.
   *
   * @param pools one pool per rank, in rank order, all with the same tokens per block
   * @throws IllegalArgumentException if there is none or they differ
   */
  public NativePrefixMatcher(List<NativeBlockPool> pools) {
    if (pools.isEmpty()) {
      throw new IllegalArgumentException("pools must not be empty");
    }
    this.pools = List.copyOf(pools);
    this.tokensPerBlock = pools.get(0).shape().tokensPerBlock();
    for (NativeBlockPool pool : pools) {
      if (pool.shape().tokensPerBlock() != tokensPerBlock) {
        throw new IllegalArgumentException("all pools must have the same tokensPerBlock");
      }
    }
    ByteBuffer addresses = NativeMemory.allocate(pools.size() * Long.BYTES);
    this.poolAddresses = addresses.asLongBuffer();
    this.poolAddressesAddress = NativeMemory.address(addresses);
    ensureRoom(64 * pools.size());
  }

  @Override
  public PrefixMatches match(ProbeBatch batch) {
    int prompts = batch.size();
    int answers = Math.multiplyExact(pools.size(), prompts);
    ensureRoom(answers);
    for (int rank = 0; rank < pools.size(); rank++) {
      poolAddresses.put(rank, pools.get(rank).address());
    }
    try {
      KvasirLibrary.kvasir_pools_probe(
          poolAddressesAddress,
          pools.size(),
          batch.hashesAddress(),
          batch.offsetsAddress(),
          prompts,
          matchedAddress);
    } finally {
      Reference.reachabilityFence(batch);
    }
    matched.get(0, matchedBlocks, 0, answers);
    PrefixMatches matches = new PrefixMatches(pools.size(), prompts);
    for (int rank = 0; rank < pools.size(); rank++) {
      for (int prompt = 0; prompt < prompts; prompt++) {
        matches.set(rank, prompt, matchedBlocks[rank * prompts + prompt] * tokensPerBlock);
      }
    }
    return matches;
  }

  private void ensureRoom(int count) {
    if (matched == null || matched.capacity() < count) {
      ByteBuffer bytes = NativeMemory.allocate(Math.multiplyExact(grown(count), Integer.BYTES));
      matchedBlocks = new int[bytes.capacity() / Integer.BYTES];
      matchedAddress = NativeMemory.address(bytes);
      matched = bytes.asIntBuffer();
    }
  }

  private static int grown(int count) {
    return Math.max(64, Integer.highestOneBit(count) * 2);
  }

  @Override
  public void close() {}
}
