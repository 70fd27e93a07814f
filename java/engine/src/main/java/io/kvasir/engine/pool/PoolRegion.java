package io.kvasir.engine.pool;

/**
 * Memory for one pool's occupancy page and event ring that other processes can read.
 *
 * <p>Confined to the pool's thread. The region must be closed after the pool.
 */
public interface PoolRegion {

  /** {@return the shape that the pool must have} */
  PoolShape shape();

  /** {@return the bytes of KV memory of one block, at least 0} */
  long kvBytesPerBlock();

  /**
   * Reserves the region for the calling pool, permanently.
   *
   * @throws IllegalStateException if the region is closed or another pool has reserved it
   */
  void claim();

  /**
   * {@return the start address of the memory, which is page-aligned so that a driver can pin it}
   */
  long address();

  /** {@return the size of the memory in bytes, whole pages} */
  int bytes();

  /** {@return the address of the occupancy page} */
  long pageAddress();

  /** {@return the address of the event ring} */
  long ringAddress();

  /**
   * Whether a reader has missed events and waits for a snapshot. One load.
   *
   * @return true if {@link #answerSnapshots} should be called
   */
  boolean snapshotWanted();

  /** {@return the number of the event after the newest complete one, at least 0} */
  long nextEvent();

  /**
   * Writes a snapshot for the waiting readers, 16 bytes for each block of the pool. A failure is
   * logged, and the readers request another snapshot.
   *
   * @param bucketsAddress address of the buckets of the pool's directory or its mirror
   * @param nextEvent number of the first event that the buckets do not include
   */
  void answerSnapshots(long bucketsAddress, long nextEvent);
}
