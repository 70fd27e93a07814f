package io.kvasir.engine.pool;

/**
 * How full a rank's block pool is, read from the pool itself at one moment.
 *
 * <p>Immutable; a snapshot that may be stale. {@code freeBlocks + cachedBlocks + activeBlocks =
 * capacityBlocks}.
 *
 * @param capacityBlocks blocks in the pool
 * @param freeBlocks blocks that hold nothing
 * @param cachedBlocks blocks that hold a prefix nobody uses: evictable
 * @param activeBlocks blocks that some lease holds
 * @param reservedBlocks blocks promised to leases but not yet taken; part of free and cached
 * @param evictedBlocks evictions since the pool was made
 * @param oldestEvictableTick last-use tick of the next block to be evicted, or {@code tick} when
 *     none is evictable
 * @param tick operations of the pool so far
 */
public record Occupancy(
    long capacityBlocks,
    long freeBlocks,
    long cachedBlocks,
    long activeBlocks,
    long reservedBlocks,
    long evictedBlocks,
    long oldestEvictableTick,
    long tick) {

  /**
   * Blocks a new lease may take: free and evictable ones that nobody was promised.
   *
   * @return the number, never negative for a consistent snapshot
   */
  public long availableBlocks() {
    return freeBlocks + cachedBlocks - reservedBlocks;
  }
}
