package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;
import java.util.function.Function;

/**
 * Matches batches against the native directories of all ranks, of pools or mirrors, in one native
 * call. The cache misses of the look-ups overlap.
 *
 * <p>Confined to one thread. The owners of the directories may change them meanwhile.
 */
public final class DirectoryProbe {

  /** Address of a directory that matches nothing. */
  public static final long NOTHING = 0;

  private final int ranks;
  private final int tokensPerBlock;
  private final LongBuffer directories;
  private final long directoriesAddress;
  private IntBuffer matched;
  private long matchedAddress;
  private int[] matchedBlocks;

  private DirectoryProbe(int ranks, int tokensPerBlock) {
    this.ranks = ranks;
    this.tokensPerBlock = tokensPerBlock;
    ByteBuffer addresses = NativeMemory.allocate(ranks * Long.BYTES);
    this.directories = addresses.asLongBuffer();
    this.directoriesAddress = NativeMemory.address(addresses);
    ensureRoom(64 * ranks);
  }

  /**
   * Makes a probe with one directory per rank.
   *
   * @param pools one pool, mirror or reader per rank, in rank order
   * @param shape returns a pool's shape
   * @param <T> type of the pools
   * @return the probe; the directories must be set before {@link #match}
   * @throws IllegalArgumentException if the list is empty, or the pools differ in their tokens per
   *     block
   */
  public static <T> DirectoryProbe of(List<T> pools, Function<T, PoolShape> shape) {
    if (pools.isEmpty()) {
      throw new IllegalArgumentException("pools must not be empty");
    }
    int tokensPerBlock = shape.apply(pools.get(0)).tokensPerBlock();
    for (T pool : pools) {
      if (shape.apply(pool).tokensPerBlock() != tokensPerBlock) {
        throw new IllegalArgumentException("all pools must have the same tokensPerBlock");
      }
    }
    return new DirectoryProbe(pools.size(), tokensPerBlock);
  }

  /**
   * Sets the directory of a rank. Must be called for every rank before each {@link #match}.
   *
   * @param rank the rank's index
   * @param address address of its directory, or {@link #NOTHING}
   */
  public void directory(int rank, long address) {
    directories.put(rank, address);
  }

  /**
   * Matches a batch on all ranks.
   *
   * @param batch the prompts
   * @return matched tokens by rank and prompt
   */
  public PrefixMatches match(ProbeBatch batch) {
    int prompts = batch.size();
    int answers = Math.multiplyExact(ranks, prompts);
    ensureRoom(answers);
    try {
      PoolLibrary.kvasir_directories_probe(
          directoriesAddress,
          ranks,
          batch.hashesAddress(),
          batch.offsetsAddress(),
          prompts,
          matchedAddress);
    } finally {
      Reference.reachabilityFence(batch);
    }
    matched.get(0, matchedBlocks, 0, answers);
    PrefixMatches matches = new PrefixMatches(ranks, prompts);
    for (int rank = 0; rank < ranks; rank++) {
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
}
