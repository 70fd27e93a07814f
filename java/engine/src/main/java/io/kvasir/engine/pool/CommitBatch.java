package io.kvasir.engine.pool;

import java.util.Arrays;

/**
 * Leases whose next full blocks have been computed and may be named. Reusable: {@link #clear()} and
 * fill again.
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
   * @param tokens the sequence's tokens from its first on; at least {@code toBlock} blocks
   * @param sequenceHashes sequence hashes of its full blocks, at least {@code toBlock}
   * @param fromBlock blocks of this lease that were matched or committed before
   * @param toBlock blocks that are full and computed now
   * @return the entry's index in the batch
   * @throws IllegalArgumentException if the range is empty or not covered by the hashes
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

  /**
   * Number of entries.
   *
   * @return at least 0
   */
  public int size() {
    return size;
  }

  public int lease(int i) {
    return leases[i];
  }

  public int[] tokens(int i) {
    return tokens[i];
  }

  public long[] sequenceHashes(int i) {
    return sequenceHashes[i];
  }

  public int fromBlock(int i) {
    return fromBlocks[i];
  }

  public int toBlock(int i) {
    return toBlocks[i];
  }
}
