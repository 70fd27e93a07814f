package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;

/**
 * Matches batches against the native directories of all ranks, of pools or mirrors, in one native
 * call. The cache misses of the look-ups overlap.
 *
 * <p>Confined to one thread. The owners of the directories may change them meanwhile.
 */
public final class DirectoryProbe {

  /** Address that the library takes for a directory without blocks. */
  private static final long NOTHING = 0;

  private final List<DirectoryView> views;
  private final int ranks;
  private final int tokensPerBlock;
  private final LongBuffer directories;
  private final long directoriesAddress;
  private IntBuffer matched = IntBuffer.allocate(0);
  private long matchedAddress;
  private int[] matchedBlocks = {};

  private DirectoryProbe(List<DirectoryView> views, int tokensPerBlock) {
    this.views = views;
    this.ranks = views.size();
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
   * @param directory returns a pool's directory
   * @param <T> type of the pools
   * @return the probe
   * @throws IllegalArgumentException if the list is empty, or the pools differ in their tokens per
   *     block
   */
  public static <T> DirectoryProbe of(
      List<T> pools, Function<T, PoolShape> shape, Function<T, DirectoryView> directory) {
    if (pools.isEmpty()) {
      throw new IllegalArgumentException("pools must not be empty");
    }
    int tokensPerBlock = shape.apply(pools.get(0)).tokensPerBlock();
    for (T pool : pools) {
      if (shape.apply(pool).tokensPerBlock() != tokensPerBlock) {
        throw new IllegalArgumentException("all pools must have the same tokensPerBlock");
      }
    }
    return new DirectoryProbe(pools.stream().map(directory).toList(), tokensPerBlock);
  }

  /**
   * Matches a batch. Closing a directory meanwhile waits for this call.
   *
   * @param batch the prompts
   * @param skipped ranks that match nothing; their directories are not read
   * @return matched tokens by rank and prompt
   * @throws IllegalStateException if a directory that is not skipped is closed
   */
  public PrefixMatches match(ProbeBatch batch, BitSet skipped) {
    int entered = 0;
    try {
      for (; entered < ranks; entered++) {
        if (!skipped.get(entered)) {
          views.get(entered).owner().enter();
        }
        directories.put(entered, skipped.get(entered) ? NOTHING : views.get(entered).address());
      }
      return matchEntered(batch);
    } finally {
      for (int rank = 0; rank < entered; rank++) {
        if (!skipped.get(rank)) {
          views.get(rank).owner().leave();
        }
      }
    }
  }

  private PrefixMatches matchEntered(ProbeBatch batch) {
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
        int blocks = matchedBlocks[rank * prompts + prompt];
        matches.set(rank, prompt, Math.multiplyExact(blocks, tokensPerBlock));
      }
    }
    return matches;
  }

  private void ensureRoom(int count) {
    if (matched.capacity() < count) {
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
