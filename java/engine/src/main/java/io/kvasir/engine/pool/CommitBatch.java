package io.kvasir.engine.pool;

import java.util.Arrays;

/**
 * Leases whose next full blocks are computed and can be named. Reusable after {@link #clear()}.
 *
 * <p>Not thread-safe.
 */
public final class CommitBatch {

  private int size;
  private int[] leases = new int[8];
  private int[][] tokens = new int[8][];
  private long[][] sequenceHashes = new long[8][];
  private int[] fromBlocks = new int[8];
  private int[] toBlocks = new int[8];

  /** Makes an empty batch. */
  public CommitBatch() {}

  /**
   * Adds a lease.
   *
   * @param lease the lease
   * @param tokens the sequence's tokens from the first; at least {@code toBlock} full blocks
   * @param sequenceHashes sequence hashes of its full blocks, at least {@code toBlock}
   * @param fromBlock number of blocks of this lease that are matched or committed
   * @param toBlock number of blocks of this lease that are full and computed
   * @return the entry's index in the batch
   * @throws IllegalArgumentException if the range is empty or exceeds the hashes
   */
  public int add(int lease, int[] tokens, long[] sequenceHashes, int fromBlock, int toBlock) {
    if (fromBlock < 0 || toBlock <= fromBlock || toBlock > sequenceHashes.length) {
      throw new IllegalArgumentException(
          "blocks must be a range within 0 to "
              + sequenceHashes.length
              + ", not "
              + fromBlock
              + " to "
              + toBlock);
    }
    if (size == leases.length) {
      int capacity = size * 2;
      leases = Arrays.copyOf(leases, capacity);
      this.tokens = Arrays.copyOf(this.tokens, capacity);
      this.sequenceHashes = Arrays.copyOf(this.sequenceHashes, capacity);
      fromBlocks = Arrays.copyOf(fromBlocks, capacity);
      toBlocks = Arrays.copyOf(toBlocks, capacity);
    }
    leases[size] = lease;
    this.tokens[size] = tokens;
    this.sequenceHashes[size] = sequenceHashes;
    fromBlocks[size] = fromBlock;
    toBlocks[size] = toBlock;
    return size++;
  }

  /** Empties the batch. */
  public void clear() {
    Arrays.fill(tokens, 0, size, null);
    Arrays.fill(sequenceHashes, 0, size, null);
    size = 0;
  }

  /** {@return the number of entries, at least 0} */
  public int size() {
    return size;
  }

  /**
   * The lease of entry {@code i}.
   *
   * @param i the entry's index
   * @return the lease
   */
  public int lease(int i) {
    return leases[i];
  }

  /**
   * The tokens of entry {@code i}.
   *
   * @param i the entry's index
   * @return the array itself, not a copy
   */
  public int[] tokens(int i) {
    return tokens[i];
  }

  /**
   * The sequence hashes of entry {@code i}.
   *
   * @param i the entry's index
   * @return the array itself, not a copy
   */
  public long[] sequenceHashes(int i) {
    return sequenceHashes[i];
  }

  /**
   * The first block that entry {@code i} names.
   *
   * @param i the entry's index
   * @return at least 0
   */
  public int fromBlock(int i) {
    return fromBlocks[i];
  }

  /**
   * The end of the blocks that entry {@code i} names, exclusive.
   *
   * @param i the entry's index
   * @return more than {@link #fromBlock}
   */
  public int toBlock(int i) {
    return toBlocks[i];
  }
}
