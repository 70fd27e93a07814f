package io.kvasir.engine.pool;

import io.kvasir.model.Checks;
import java.util.Arrays;

/**
 * Leases to extend, and the pool's answer to each. Reusable after {@link #clear()}.
 *
 * <p>Not thread-safe.
 */
public final class ExtendBatch {

  private int size;
  private int[] leases = new int[8];
  private int[] blocks = new int[8];
  private long[] missingBlocks = new long[8];

  /** Makes an empty batch. */
  public ExtendBatch() {}

  /**
   * Adds a lease. A batch may contain a lease only once.
   *
   * @param lease the lease
   * @param additionalBlocks number of blocks to append
   * @return the entry's index in the batch
   * @throws IllegalArgumentException if {@code additionalBlocks} is less than 1
   */
  public int add(int lease, int additionalBlocks) {
    Checks.atLeast("additionalBlocks", additionalBlocks, 1);
    if (size == leases.length) {
      leases = Arrays.copyOf(leases, size * 2);
      blocks = Arrays.copyOf(blocks, size * 2);
      missingBlocks = Arrays.copyOf(missingBlocks, size * 2);
    }
    leases[size] = lease;
    blocks[size] = additionalBlocks;
    return size++;
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
  }

  /** {@return the number of entries, at least 0} */
  public int size() {
    return size;
  }

  /**
   * Whether the extension of entry {@code i} was granted.
   *
   * @param i the entry's index
   * @return false if no block was appended
   */
  public boolean granted(int i) {
    return missingBlocks[i] == 0;
  }

  /**
   * Number of blocks that were missing to grant entry {@code i} and all earlier entries of the
   * batch.
   *
   * @param i the entry's index
   * @return 0 if it was granted
   */
  public long missingBlocks(int i) {
    return missingBlocks[i];
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
   * Number of blocks that entry {@code i} appends.
   *
   * @param i the entry's index
   * @return at least 1
   */
  public int blocks(int i) {
    return blocks[i];
  }

  /**
   * Sets the pool's answer to entry {@code i}. Called by pools.
   *
   * @param i the entry's index
   * @param missing missing blocks; 0 if the extension is granted
   */
  public void answer(int i, long missing) {
    missingBlocks[i] = missing;
  }
}
