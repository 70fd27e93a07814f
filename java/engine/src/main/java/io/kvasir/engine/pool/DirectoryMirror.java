package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeHandle;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.NativeStatus;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A copy of a pool's directory that is maintained from the pool's events. It is used where the
 * pool's own directory is inaccessible because it is in device memory.
 *
 * <p>Its memory is outside the heap and fixed: 16 bytes for each of the pool's blocks. It never
 * contains more sequence hashes than the pool has blocks. Repeated events and repeated stores or
 * removals of a hash have no effect and are counted. After missed events the mirror is out of sync
 * and matches nothing until a {@code Cleared} event.
 *
 * <p>Confined to one thread, except for probes of its directory, which any thread may make until
 * {@link #close}. Use after close throws {@link IllegalStateException}.
 */
public final class DirectoryMirror implements AutoCloseable {

  // The words of MirrorState in directory_mirror.hpp.
  private static final int NEXT_EVENT = 0;
  private static final int SIZE = 8;
  private static final int STATE_BYTES = 40;

  private static final String WHAT = "a directory mirror";

  private final NativeHandle handle;
  private final DirectoryView directory;
  private final ByteBuffer state;

  private DirectoryMirror(long address) {
    this.handle = new NativeHandle("directory mirror", address);
    this.directory = new DirectoryView(handle, PoolLibrary.kvasir_mirror_directory(address));
    this.state = NativeMemory.view(PoolLibrary.kvasir_mirror_state(address), STATE_BYTES);
  }

  /**
   * Makes the mirror of an empty pool. Its next event is 0.
   *
   * @param capacityBlocks the pool's blocks
   * @return the mirror; the caller closes it
   * @throws OutOfMemoryError if there is too little address space
   */
  public static DirectoryMirror create(int capacityBlocks) {
    String what = "the mirror of " + capacityBlocks + " blocks";
    return new DirectoryMirror(
        NativeStatus.require(PoolLibrary.kvasir_mirror_create(capacityBlocks), what));
  }

  /**
   * Applies complete events of a ring that the mirror has not applied, at most {@code
   * eventCapacity}. One native call. The ring may contain any bytes; damage that is detected counts
   * as missed events.
   *
   * @param ringAddress address of the event ring
   * @param eventCapacity number of slots of the ring
   */
  public void follow(long ringAddress, int eventCapacity) {
    long address = handle.enter();
    try {
      NativeStatus.require(
          PoolLibrary.kvasir_mirror_follow(address, ringAddress, eventCapacity), WHAT);
    } finally {
      handle.leave();
    }
  }

  /**
   * Adds sequence hashes that the pool is about to store, ahead of their events.
   *
   * @param hashes an array of sequence hashes
   * @param from index of the first hash to add
   * @param to index after the last hash to add
   * @throws IndexOutOfBoundsException if the range is outside the array
   */
  public void add(long[] hashes, int from, int to) {
    Objects.checkFromToIndex(from, to, hashes.length);
    long address = handle.enter();
    try {
      NativeStatus.require(PoolLibrary.kvasir_mirror_add(address, hashes, from, to - from), WHAT);
    } finally {
      handle.leave();
    }
  }

  /**
   * Same as {@link BlockPool#probe}, as of the events applied so far. Any thread.
   *
   * @param batch the prompts
   * @param matchedBlocks receives, from {@code offset} on, the matched blocks of each prompt
   * @param offset first index written
   * @throws IndexOutOfBoundsException if the array is too short
   */
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    Objects.checkFromIndexSize(offset, batch.size(), matchedBlocks.length);
    handle.enter();
    try {
      PoolLibrary.kvasir_directory_probe(
          directory.address(),
          batch.hashesAddress(),
          batch.offsetsAddress(),
          batch.size(),
          matchedBlocks,
          offset);
    } finally {
      handle.leave();
      Reference.reachabilityFence(batch);
    }
  }

  /**
   * {@return the mirror's directory, for {@link DirectoryProbe}: its address and this mirror's
   * handle}
   */
  public DirectoryView directory() {
    return directory;
  }

  /** {@return the number of the next event to apply, at least 0} */
  public long nextEvent() {
    return word(NEXT_EVENT);
  }

  /** {@return the number of sequence hashes in the mirror, at least 0} */
  public long size() {
    return word(SIZE);
  }

  private long word(int offset) {
    handle.enter();
    try {
      return state.getLong(offset);
    } finally {
      handle.leave();
    }
  }

  /** Frees the mirror; waits for calls on other threads. */
  @Override
  public void close() {
    long address = handle.close();
    if (address != 0) {
      PoolLibrary.kvasir_mirror_destroy(address);
    }
  }
}
