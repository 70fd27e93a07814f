package io.kvasir.engine.pool;

import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import java.util.Arrays;
import java.util.Objects;

/**
 * Requests for blocks, and the pool's answer to each. Reusable after {@link #clear()}. Allocates
 * only when it grows.
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
   * @param tokens its tokens; at least {@code matchableBlocks} full blocks
   * @param sequenceHashes sequence hashes of its full blocks, at least {@code matchableBlocks}
   * @param scope its LoRA adapter and salt
   * @param matchableBlocks number of leading full blocks that may be reused; a caller that must
   *     compute at least one token excludes that token's block
   * @param blocks length of the block table to lease, reused and new blocks together; if it is less
   *     than {@code matchableBlocks}, the matches beyond it are not used
   * @param reserveBlocks blocks to reserve for later extensions of this lease
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
    Checks.within("matchableBlocks", matchableBlocks, 0, sequenceHashes.length);
    Checks.atLeast("blocks", blocks, 1);
    Checks.atLeast("reserveBlocks", reserveBlocks, 0);
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

  /** {@return the number of requests, at least 0} */
  public int size() {
    return size;
  }

  /**
   * The lease of request {@code i}.
   *
   * @param i the request's index
   * @return the lease, or {@link #REFUSED}
   */
  public int lease(int i) {
    return leases[i];
  }

  /**
   * Matched blocks of request {@code i}, which its lease shares.
   *
   * @param i the request's index
   * @return blocks, 0 for a refused request
   */
  public int matchedBlocks(int i) {
    return matchedBlocks[i];
  }

  /**
   * Number of blocks that were missing to admit request {@code i} and all earlier requests of the
   * batch.
   *
   * @param i the request's index
   * @return 0 if the request was admitted, or if only a free lease was missing
   */
  public long missingBlocks(int i) {
    return missingBlocks[i];
  }

  /**
   * The tokens of request {@code i}.
   *
   * @param i the request's index
   * @return the array itself, not a copy
   */
  public int[] tokens(int i) {
    return tokens[i];
  }

  /**
   * The sequence hashes of request {@code i}.
   *
   * @param i the request's index
   * @return the array itself, not a copy
   */
  public long[] sequenceHashes(int i) {
    return sequenceHashes[i];
  }

  CacheScope scope(int i) {
    return scopes[i];
  }

  /**
   * Number of leading full blocks of request {@code i} that may be reused.
   *
   * @param i the request's index
   * @return at least 0 and at most {@link #blocks}
   */
  public int matchableBlocks(int i) {
    return matchableBlocks[i];
  }

  /**
   * Length of the block table that request {@code i} leases.
   *
   * @param i the request's index
   * @return at least 1
   */
  public int blocks(int i) {
    return blocks[i];
  }

  /**
   * Number of blocks that request {@code i} reserves for later extensions.
   *
   * @param i the request's index
   * @return at least 0
   */
  public int reserveBlocks(int i) {
    return reserveBlocks[i];
  }

  /** Lets request {@code i} match other blocks: at most as many as it was added with. */
  void matchableBlocks(int i, int most) {
    matchableBlocks[i] = most;
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
