package io.kvasir.engine.pool;

/**
 * Memory in which one pool keeps its occupancy page and its event ring so that other processes can
 * read them.
 *
 * <p>The pool's thread calls every method; the owner of the region closes it after the pool.
 */
public interface PoolRegion {

  /**
   * The shape that the pool must have.
   *
   * @return the shape
   */
  PoolShape shape();

  /**
   * KV memory of one block.
   *
   * @return bytes, at least 0
   */
  long kvBytesPerBlock();

  /**
   * Reserves the region for the calling pool, once and for good.
   *
   * @throws IllegalStateException if the region is closed or another pool has reserved it
   */
  void claim();

  /**
   * Start of the memory, which is page-aligned so that a driver can pin it.
   *
   * @return its address
   */
  long address();

  /**
   * Size of the memory in whole pages.
   *
   * @return bytes
   */
  int bytes();

  /**
   * Where the occupancy page lies.
   *
   * @return its address
   */
  long pageAddress();

  /**
   * Where the event ring lies.
   *
   * @return its address
   */
  long ringAddress();

  /**
   * Whether a reader has lost events and waits for a snapshot. One load.
   *
   * @return true if {@link #answerSnapshots} has something to do
   */
  boolean snapshotWanted();

  /**
   * Number of the event behind the newest complete one.
   *
   * @return at least 0
   */
  long nextEvent();

  /**
   * Writes a snapshot for the readers that wait for one, 16 bytes for each block of the pool. A
   * failure is logged; the readers ask again.
   *
   * @param bucketsAddress buckets of the pool's directory, or of a mirror of it
   * @param nextEvent number of the first event that is not in them
   */
  void answerSnapshots(long bucketsAddress, long nextEvent);
}
