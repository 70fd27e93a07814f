package io.kvasir.engine.pool;

/**
 * Sizes of a pool, fixed for its life.
 *
 * <p>Immutable.
 *
 * @param capacityBlocks number of blocks
 * @param tokensPerBlock tokens in a block, at most {@link #MAX_TOKENS_PER_BLOCK}
 * @param maxLeases leases that may exist at the same time
 * @param maxBlocksPerLease longest block table of a lease
 * @param eventCapacity events kept until they are drained; 0 turns events off. When the ring is
 *     full the oldest are lost, which the reader sees as a jump of the sequence number.
 */
public record PoolShape(
    int capacityBlocks,
    int tokensPerBlock,
    int maxLeases,
    int maxBlocksPerLease,
    int eventCapacity) {

  /** Longest block: far above any in use, and a batch of many still fits into one buffer. */
  public static final int MAX_TOKENS_PER_BLOCK = 1 << 16;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public PoolShape {
    atLeast("capacityBlocks", capacityBlocks, 1);
    atLeast("tokensPerBlock", tokensPerBlock, 1);
    if (tokensPerBlock > MAX_TOKENS_PER_BLOCK) {
      throw new IllegalArgumentException(
          "tokensPerBlock must be at most " + MAX_TOKENS_PER_BLOCK + ", not " + tokensPerBlock);
    }
    atLeast("maxLeases", maxLeases, 1);
    atLeast("maxBlocksPerLease", maxBlocksPerLease, 1);
    atLeast("eventCapacity", eventCapacity, 0);
  }

  /**
   * This shape with another capacity, and leases that may take all of it.
   *
   * @param blocks number of blocks
   * @return the shape
   */
  public PoolShape withBlocks(int blocks) {
    return new PoolShape(blocks, tokensPerBlock, maxLeases, blocks, eventCapacity);
  }

  /**
   * This shape with another number of events kept.
   *
   * @param events events kept until they are drained
   * @return the shape
   */
  public PoolShape withEvents(int events) {
    return new PoolShape(capacityBlocks, tokensPerBlock, maxLeases, maxBlocksPerLease, events);
  }

  private static void atLeast(String field, int value, int minimum) {
    if (value < minimum) {
      throw new IllegalArgumentException(field + " must be at least " + minimum + ", not " + value);
    }
  }
}
