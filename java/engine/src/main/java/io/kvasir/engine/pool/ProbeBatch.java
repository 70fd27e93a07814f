package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Objects;

/**
 * Prompts to look up in pools: their sequence hashes, back to back, in memory that the native
 * library reads. Reusable after {@link #clear()}.
 *
 * <p>Not thread-safe.
 */
public final class ProbeBatch {

  /** A buffer has less than 2 GiB. */
  private static final int MAX_HASHES = Integer.MAX_VALUE / Long.BYTES;

  private int size;
  private IntBuffer offsets;
  private long offsetsAddress;
  private LongBuffer hashes;
  private long hashesAddress;

  /** Makes an empty batch. */
  public ProbeBatch() {
    growOffsets(9);
    growHashes(256);
  }

  /**
   * Adds a prompt.
   *
   * @param sequenceHashes sequence hashes of its blocks
   * @param blocks number of leading blocks to look up
   * @return the prompt's index in the batch
   * @throws IndexOutOfBoundsException if {@code blocks} is negative or there are fewer hashes; the
   *     batch is unchanged
   * @throws IllegalArgumentException if the batch would have 2^28 hashes or more; the batch is
   *     unchanged
   */
  public int add(long[] sequenceHashes, int blocks) {
    Objects.checkFromIndexSize(0, blocks, sequenceHashes.length);
    int start = offsets.get(size);
    if (blocks > MAX_HASHES - start) {
      throw new IllegalArgumentException(
          "a batch must have at most " + MAX_HASHES + " hashes, not " + ((long) start + blocks));
    }
    if (size + 2 > offsets.capacity()) {
      growOffsets(offsets.capacity() * 2);
    }
    if (start + blocks > hashes.capacity()) {
      growHashes(Math.max(start + blocks, Math.min(MAX_HASHES, hashes.capacity() * 2)));
    }
    hashes.put(start, sequenceHashes, 0, blocks);
    offsets.put(size + 1, start + blocks);
    return size++;
  }

  private void growOffsets(int count) {
    ByteBuffer bytes = NativeMemory.allocate(Math.multiplyExact(count, Integer.BYTES));
    IntBuffer grown = bytes.asIntBuffer();
    if (offsets != null) {
      grown.put(0, offsets, 0, size + 1);
    }
    offsets = grown;
    offsetsAddress = NativeMemory.address(bytes);
  }

  private void growHashes(int count) {
    ByteBuffer bytes = NativeMemory.allocate(Math.multiplyExact(count, Long.BYTES));
    LongBuffer grown = bytes.asLongBuffer();
    if (hashes != null) {
      grown.put(0, hashes, 0, hashCount());
    }
    hashes = grown;
    hashesAddress = NativeMemory.address(bytes);
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
  }

  /** {@return the number of prompts, at least 0} */
  public int size() {
    return size;
  }

  /** {@return the number of hashes of all prompts together, at least 0} */
  public int hashCount() {
    return offsets.get(size);
  }

  /** {@return a copy of the hashes of all prompts, back to back} */
  long[] hashes() {
    long[] copy = new long[hashCount()];
    hashes.get(0, copy);
    return copy;
  }

  /**
   * {@return a copy of the index of each prompt's first hash in {@link #hashes()}, then the total}
   */
  int[] offsets() {
    int[] copy = new int[size + 1];
    offsets.get(0, copy);
    return copy;
  }

  /**
   * Copies all hashes and the index of each prompt's first hash, then the total, into a buffer.
   *
   * @param to the buffer
   * @param hashesAt position of the hashes in bytes, a multiple of 8
   * @param offsetsAt position of the indexes in bytes, a multiple of 4
   */
  public void copyTo(ByteBuffer to, int hashesAt, int offsetsAt) {
    to.asLongBuffer().put(hashesAt / Long.BYTES, hashes, 0, hashCount());
    to.asIntBuffer().put(offsetsAt / Integer.BYTES, offsets, 0, size + 1);
  }

  /** Address of the hashes; valid until the next {@link #add}, while the batch is reachable. */
  long hashesAddress() {
    return hashesAddress;
  }

  /** Address of the offsets; valid until the next {@link #add}, while the batch is reachable. */
  long offsetsAddress() {
    return offsetsAddress;
  }
}
