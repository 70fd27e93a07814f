package io.kvasir.pool;

import io.kvasir.internal.nativelib.KvasirLibrary;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.PrefixMatches;
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
  private LongBuffer hashes;
  private long hashesAddress;
  private IntBuffer offsets;
  private long offsetsAddress;
  private IntBuffer matched;
  private long matchedAddress;

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
    ensureHashes(1024);
    ensurePrompts(64);
  }

  @Override
  public PrefixMatches match(ProbeBatch batch) {
    int prompts = batch.size();
    ensureHashes(batch.hashCount());
    ensurePrompts(prompts);
    for (int rank = 0; rank < pools.size(); rank++) {
      poolAddresses.put(rank, pools.get(rank).address());
    }
    hashes.put(0, batch.hashes(), 0, batch.hashCount());
    offsets.put(0, batch.offsets(), 0, prompts + 1);
    KvasirLibrary.kvasir_pools_probe(
        poolAddressesAddress, pools.size(), hashesAddress, offsetsAddress, prompts, matchedAddress);
    PrefixMatches matches = new PrefixMatches(pools.size(), prompts);
    for (int rank = 0; rank < pools.size(); rank++) {
      for (int prompt = 0; prompt < prompts; prompt++) {
        matches.set(rank, prompt, matched.get(rank * prompts + prompt) * tokensPerBlock);
      }
    }
    return matches;
  }

  private void ensureHashes(int count) {
    if (hashes == null || hashes.capacity() < count) {
      ByteBuffer bytes = NativeMemory.allocate(Math.multiplyExact(grown(count), Long.BYTES));
      hashes = bytes.asLongBuffer();
      hashesAddress = NativeMemory.address(bytes);
    }
  }

  private void ensurePrompts(int count) {
    if (offsets == null || offsets.capacity() < count + 1) {
      ByteBuffer offsetBytes =
          NativeMemory.allocate(Math.multiplyExact(grown(count) + 1, Integer.BYTES));
      offsets = offsetBytes.asIntBuffer();
      offsetsAddress = NativeMemory.address(offsetBytes);
      ByteBuffer matchedBytes =
          NativeMemory.allocate(Math.multiplyExact(grown(count), pools.size() * Integer.BYTES));
      matched = matchedBytes.asIntBuffer();
      matchedAddress = NativeMemory.address(matchedBytes);
    }
  }

  private static int grown(int count) {
    return Math.max(64, Integer.highestOneBit(count) * 2);
  }

  @Override
  public void close() {}
}
