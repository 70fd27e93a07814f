package io.kvasir.engine.pool;

/**
 * The block counts of a rank's pool at one moment.
 *
 * <p>Immutable; a snapshot that may be stale. {@code freeBlocks + cachedBlocks + activeBlocks =
 * capacityBlocks}.
 *
 * @param capacityBlocks blocks in the pool
 * @param freeBlocks empty blocks
 * @param cachedBlocks named blocks that no lease uses: evictable
 * @param activeBlocks blocks that at least one lease uses
 * @param reservedBlocks blocks reserved for leases but not yet used; counted as free or cached
 * @param evictedBlocks evictions since the pool was created
 * @param oldestEvictableTick last-use tick of the next block to evict, or {@code tick} if no block
 *     is evictable
 * @param tick number of operations of the pool so far
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
   * {@return the number of blocks available to a new lease: free and evictable blocks that are not
   * reserved; never negative for a consistent snapshot}
   */
  public long availableBlocks() {
    return freeBlocks + cachedBlocks - reservedBlocks;
  }
}
