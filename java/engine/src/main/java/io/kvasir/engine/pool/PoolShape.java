package io.kvasir.engine.pool;

import io.kvasir.model.Checks;

/**
 * Sizes of a pool, fixed for its life.
 *
 * <p>Immutable.
 *
 * @param capacityBlocks number of blocks
 * @param tokensPerBlock tokens in a block, at most {@link #MAX_TOKENS_PER_BLOCK}
 * @param maxLeases maximum number of leases at the same time
 * @param maxBlocksPerLease maximum length of a lease's block table
 * @param eventCapacity number of events that the ring keeps until they are drained; 0 turns events
 *     off. A full ring drops the oldest events, which a reader detects as a gap in the event
 *     numbers.
 */
public record PoolShape(
    int capacityBlocks,
    int tokensPerBlock,
    int maxLeases,
    int maxBlocksPerLease,
    int eventCapacity) {

  /** Maximum block size: far above any in use, and a large batch still fits into one buffer. */
  public static final int MAX_TOKENS_PER_BLOCK = 1 << 16;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public PoolShape {
    Checks.atLeast("capacityBlocks", capacityBlocks, 1);
    Checks.within("tokensPerBlock", tokensPerBlock, 1, MAX_TOKENS_PER_BLOCK);
    Checks.atLeast("maxLeases", maxLeases, 1);
    Checks.atLeast("maxBlocksPerLease", maxBlocksPerLease, 1);
    Checks.atLeast("eventCapacity", eventCapacity, 0);
  }

  /**
   * This shape with another capacity, which one lease may use in full.
   *
   * @param blocks number of blocks
   * @return the shape
   */
  public PoolShape withBlocks(int blocks) {
    return new PoolShape(blocks, tokensPerBlock, maxLeases, blocks, eventCapacity);
  }

  /**
   * This shape with another event capacity.
   *
   * @param events number of events that the ring keeps until they are drained
   * @return the shape
   */
  public PoolShape withEvents(int events) {
    return new PoolShape(capacityBlocks, tokensPerBlock, maxLeases, maxBlocksPerLease, events);
  }
}
