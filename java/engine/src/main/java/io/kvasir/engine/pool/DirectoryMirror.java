package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The names that a pool holds, as its events tell them: a directory outside the heap, for a pool
 * whose own directory is out of reach, in another process or in device memory.
 *
 * <p>Its memory is fixed: 16 bytes for each of the pool's blocks, and no more names than blocks,
 * whatever it is told. An event told twice, a name stored twice or removed twice changes nothing
 * and is counted. When events were lost it knows nothing and matches nothing, until {@link
 * #replace} or a {@code Cleared} event.
 *
 * <p>Confined to one thread, except for probes of its directory, which any thread may make until
 * {@link #close}. Use after close throws {@link IllegalStateException}.
 */
public final class DirectoryMirror implements AutoCloseable {

  // The words of MirrorState in directory_mirror.hpp.
  private static final int NEXT_EVENT = 0;
  private static final int NAMES = 8;
  private static final int KNOWN = 16;
  private static final int GAPS = 24;
  private static final int STATE_BYTES = 40;

  private final ByteBuffer state;
  private final long directory;
  private volatile long address;

  private DirectoryMirror(long address) {
    this.address = address;
    this.directory = PoolLibrary.kvasir_mirror_directory(address);
    this.state = NativeMemory.view(PoolLibrary.kvasir_mirror_state(address), STATE_BYTES);
  }

  /**
   * Makes the mirror of an empty pool, which awaits event 0.
   *
   * @param capacityBlocks the pool's blocks
   * @return the mirror; the caller closes it
   * @throws OutOfMemoryError if the address space is not to be had
   */
  public static DirectoryMirror create(int capacityBlocks) {
    try {
      return new DirectoryMirror(PoolLibrary.kvasir_mirror_create(capacityBlocks));
    } catch (RuntimeException e) {
      OutOfMemoryError error =
          new OutOfMemoryError("no memory for the mirror of " + capacityBlocks + " blocks");
      error.initCause(e);
      throw error;
    }
  }

  /**
   * Bytes of the array of buckets that {@link #replace} reads.
   *
   * @param capacityBlocks the pool's blocks
   */
  public static long bucketBytes(int capacityBlocks) {
    return PoolLibrary.kvasir_directory_bytes(capacityBlocks);
  }

  /** Applies all complete events of a ring that are new to the mirror; one crossing. */
  public void follow(long ringAddress, int eventCapacity) {
    PoolLibrary.kvasir_mirror_follow(address(), ringAddress, eventCapacity);
  }

  /**
   * Adds names that the pool is about to have, ahead of their events.
   *
   * @throws IndexOutOfBoundsException outside of {@code names}
   */
  public void add(long[] names, int from, int to) {
    Objects.checkFromToIndex(from, to, names.length);
    PoolLibrary.kvasir_mirror_add(address(), names, from, to - from);
  }

  /**
   * Takes all names over from a directory.
   *
   * @param bucketsAddress where the buckets of a directory for as many blocks lie, {@link
   *     #bucketBytes} of them; any contents are safe
   * @param nextEvent number of the first event that is not in them
   * @return false if they hold more names than blocks; the mirror knows nothing then
   */
  public boolean replace(long bucketsAddress, long nextEvent) {
    return PoolLibrary.kvasir_mirror_replace(address(), bucketsAddress, nextEvent);
  }

  /** Same answers as {@link BlockPool#probe}, as far as the events tell. Any thread. */
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    Objects.checkFromIndexSize(offset, batch.size(), matchedBlocks.length);
    try {
      PoolLibrary.kvasir_directory_probe(
          directoryAddress(),
          batch.hashesAddress(),
          batch.offsetsAddress(),
          batch.size(),
          matchedBlocks,
          offset);
    } finally {
      Reference.reachabilityFence(batch);
    }
  }

  /** Where its directory lies, for {@link DirectoryProbe}; valid until {@link #close}. */
  public long directoryAddress() {
    address();
    return directory;
  }

  /** Where its buckets lie, for a snapshot; valid until {@link #close}. */
  public long bucketsAddress() {
    return PoolLibrary.kvasir_directory_buckets(directoryAddress());
  }

  /** Number of the event that it waits for. */
  public long nextEvent() {
    return word(NEXT_EVENT);
  }

  /** How many names it holds. */
  public long names() {
    return word(NAMES);
  }

  /** Whether its names are the pool's as of {@link #nextEvent}. */
  public boolean known() {
    return word(KNOWN) != 0;
  }

  /** How often events were lost. */
  public long gaps() {
    return word(GAPS);
  }

  private long word(int offset) {
    address();
    return state.getLong(offset);
  }

  private long address() {
    if (address == 0) {
      throw new IllegalStateException("the mirror is closed");
    }
    return address;
  }

  /** Frees the mirror. The caller sees to it that no other thread still probes. */
  @Override
  public void close() {
    if (address != 0) {
      PoolLibrary.kvasir_mirror_destroy(address);
      address = 0;
    }
  }
}
