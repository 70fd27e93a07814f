package io.kvasir.pool;

import java.util.Arrays;

/**
 * Prompts to look up in pools: their sequence hashes, back to back. Reusable: {@link #clear()} and
 * fill again.
 *
 * <p>Not thread-safe; a thread that probes owns its batch.
 */
public final class ProbeBatch {

  private int size;
  private int[] offsets = new int[9];
  private long[] hashes = new long[256];

  /** Makes an empty batch. */
  public ProbeBatch() {}

  /**
   * Adds a prompt.
   *
   * @param sequenceHashes sequence hashes of its blocks
   * @param blocks how many of them to look up
   * @return the prompt's index in the batch
   */
  public int add(long[] sequenceHashes, int blocks) {
    if (size + 2 > offsets.length) {
      offsets = Arrays.copyOf(offsets, offsets.length * 2);
    }
    int start = offsets[size];
    if (start + blocks > hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(start + blocks, hashes.length * 2));
    }
    System.arraycopy(sequenceHashes, 0, hashes, start, blocks);
    offsets[size + 1] = start + blocks;
    return size++;
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
  }

  /**
   * Number of prompts.
   *
   * @return at least 0
   */
  public int size() {
    return size;
  }

  /**
   * Number of hashes of all prompts together.
   *
   * @return at least 0
   */
  public int hashCount() {
    return offsets[size];
  }

  /**
   * The prompts' hashes back to back; prompt i has indices {@code offsets()[i]} to {@code
   * offsets()[i + 1]}.
   *
   * @return the array itself; longer than {@link #hashCount()}
   */
  long[] hashes() {
    return hashes;
  }

  /**
   * Where each prompt's hashes begin and end.
   *
   * @return the array itself; {@link #size()} + 1 entries are used
   */
  int[] offsets() {
    return offsets;
  }
}
