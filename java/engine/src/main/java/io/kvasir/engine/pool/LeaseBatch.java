package io.kvasir.engine.pool;

import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.Objects;

/**
 * Requests that want blocks, and the pool's answer to each. Reusable: {@link #clear()} and fill
 * again; grows as needed and then allocates nothing.
 *
 * <p>Not thread-safe.
 */
public final class LeaseBatch {

  /** Value of {@link #lease(int)} for a request that was refused. */
  public static final int REFUSED = -1;

  private int size;
  private int[][] tokens = new int[8][];
  private long[][] sequenceHashes = new long[8][];
  private CacheScope[] scopes = new CacheScope[8];
  private int[] matchableBlocks = new int[8];
  private int[] blocks = new int[8];
  private int[] reserveBlocks = new int[8];
  private int[] leases = new int[8];
  private int[] matchedBlocks = new int[8];
  private long[] missingBlocks = new long[8];

  /** Makes an empty batch. */
  public LeaseBatch() {}

  /**
   * Adds a request.
   *
   * @param tokens its tokens; at least {@code matchableBlocks} blocks of them
   * @param sequenceHashes sequence hashes of its full blocks, at least {@code matchableBlocks}
   * @param scope its LoRA adapter and salt
   * @param matchableBlocks how many leading full blocks may be reused; a caller that must compute
   *     at least one token leaves that token's block out
   * @param blocks length of the block table to lease: reused and new blocks together; at least
   *     {@code matchableBlocks} is not required, matches beyond it are not used
   * @param reserveBlocks blocks that later extensions of this lease are promised
   * @return the request's index in the batch
   * @throws IllegalArgumentException if a count is out of range
   */
  public int add(
      int[] tokens,
      long[] sequenceHashes,
      CacheScope scope,
      int matchableBlocks,
      int blocks,
      int reserveBlocks) {
    if (matchableBlocks < 0 || matchableBlocks > sequenceHashes.length) {
      throw new IllegalArgumentException(
          "matchableBlocks must be 0 to " + sequenceHashes.length + ", not " + matchableBlocks);
    }
    if (blocks < 1) {
      throw new IllegalArgumentException("blocks must be at least 1, not " + blocks);
    }
    if (reserveBlocks < 0) {
      throw new IllegalArgumentException("reserveBlocks must be at least 0, not " + reserveBlocks);
    }
    if (size == leases.length) {
      grow();
    }
    this.tokens[size] = tokens;
    this.sequenceHashes[size] = sequenceHashes;
    this.scopes[size] = Objects.requireNonNull(scope, "scope");
    this.matchableBlocks[size] = Math.min(matchableBlocks, blocks);
    this.blocks[size] = blocks;
    this.reserveBlocks[size] = reserveBlocks;
    return size++;
  }

  /** Empties the batch. */
  public void clear() {
    Arrays.fill(tokens, 0, size, null);
    Arrays.fill(sequenceHashes, 0, size, null);
    size = 0;
  }

  /**
   * Number of requests.
   *
   * @return at least 0
   */
  public int size() {
    return size;
  }

  /**
   * The lease that request {@code i} got.
   *
   * @param i the request's index
   * @return the lease, or {@link #REFUSED}
   */
  public int lease(int i) {
    return leases[i];
  }

  /**
   * Leading blocks that request {@code i} found in the pool and now shares.
   *
   * @param i the request's index
   * @return blocks, 0 for a refused request
   */
  public int matchedBlocks(int i) {
    return matchedBlocks[i];
  }

  /**
   * Blocks that were missing for request {@code i} and every earlier one of the batch to be
   * admitted.
   *
   * @param i the request's index
   * @return 0 if it was admitted; also 0 if only a free lease was missing
   */
  public long missingBlocks(int i) {
    return missingBlocks[i];
  }

  public int[] tokens(int i) {
    return tokens[i];
  }

  public long[] sequenceHashes(int i) {
    return sequenceHashes[i];
  }

  CacheScope scope(int i) {
    return scopes[i];
  }

  public int matchableBlocks(int i) {
    return matchableBlocks[i];
  }

  public int blocks(int i) {
    return blocks[i];
  }

  public int reserveBlocks(int i) {
    return reserveBlocks[i];
  }

  void answer(int i, int lease, int matched, long missing) {
    leases[i] = lease;
    matchedBlocks[i] = matched;
    missingBlocks[i] = missing;
  }

  private void grow() {
    int capacity = size * 2;
    tokens = Arrays.copyOf(tokens, capacity);
    sequenceHashes = Arrays.copyOf(sequenceHashes, capacity);
    scopes = Arrays.copyOf(scopes, capacity);
    matchableBlocks = Arrays.copyOf(matchableBlocks, capacity);
    blocks = Arrays.copyOf(blocks, capacity);
    reserveBlocks = Arrays.copyOf(reserveBlocks, capacity);
    leases = Arrays.copyOf(leases, capacity);
    matchedBlocks = Arrays.copyOf(matchedBlocks, capacity);
    missingBlocks = Arrays.copyOf(missingBlocks, capacity);
  }
}
