package io.kvasir.testing.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Drives a pool in shorthand: a prompt is a string with one letter per block, and {@code "AB"} also
 * denotes its second block in {@link #events()}. Not thread-safe.
 */
public final class PoolScenario implements AutoCloseable {

  /** Tokens of every block. */
  public static final int TOKENS_PER_BLOCK = 3;

  /** Blocks of the longest lease. */
  public static final int MAX_BLOCKS_PER_LEASE = 10;

  private final BlockPool pool;
  private final Map<Long, String> lettersByName = new HashMap<>();

  /**
   * Creates a scenario.
   *
   * @param pool the pool; closed with this
   */
  public PoolScenario(BlockPool pool) {
    this.pool = pool;
  }

  /**
   * A shape suitable for prompts in shorthand.
   *
   * @param capacityBlocks blocks of the pool
   * @param maxLeases concurrent leases
   * @param eventCapacity capacity of the event ring
   * @return the shape
   */
  public static PoolShape shape(int capacityBlocks, int maxLeases, int eventCapacity) {
    return new PoolShape(
        capacityBlocks, TOKENS_PER_BLOCK, maxLeases, MAX_BLOCKS_PER_LEASE, eventCapacity);
  }

  /**
   * One request of a lease batch.
   *
   * @param prompt its prompt
   * @param matchableBlocks leading blocks that may be matched
   * @param blocks length of its block table
   * @param reserveBlocks blocks to reserve
   */
  public record Want(Prompt prompt, int matchableBlocks, int blocks, int reserveBlocks) {

    /**
     * The same with a block table that is longer than the prompt.
     *
     * @param more additional blocks
     * @return the changed request
     */
    public Want andNew(int more) {
      return new Want(prompt, matchableBlocks, blocks + more, reserveBlocks);
    }

    /**
     * The same with a reservation.
     *
     * @param reserve blocks to reserve
     * @return the changed request
     */
    public Want reserving(int reserve) {
      return new Want(prompt, matchableBlocks, blocks, reserve);
    }

    /**
     * The same with a limit on matches.
     *
     * @param matchable leading blocks that may be matched
     * @return the changed request
     */
    public Want matchingAtMost(int matchable) {
      return new Want(prompt, matchable, blocks, reserveBlocks);
    }

    /**
     * The same with another length of the block table.
     *
     * @param total its blocks
     * @return the changed request
     */
    public Want ofBlocks(int total) {
      return new Want(prompt, matchableBlocks, total, reserveBlocks);
    }
  }

  /**
   * A prompt of one block per letter; equal prefixes have equal sequence hashes.
   *
   * @param letters the letters
   * @return the prompt
   */
  public Prompt prompt(String letters) {
    int[] tokens = new int[letters.length() * TOKENS_PER_BLOCK];
    long[] names = new long[letters.length()];
    long parent = 0;
    for (int depth = 0; depth < names.length; depth++) {
      Arrays.fill(
          tokens, depth * TOKENS_PER_BLOCK, (depth + 1) * TOKENS_PER_BLOCK, letters.charAt(depth));
      parent = TestHash.mix(parent + letters.charAt(depth));
      names[depth] = parent;
      lettersByName.put(parent, letters.substring(0, depth + 1));
    }
    return new Prompt(tokens, names, CacheScope.NONE);
  }

  /**
   * The sequence hash of the last block of a prompt.
   *
   * @param letters the prompt
   * @return its sequence hash
   */
  public long name(String letters) {
    return prompt(letters).names()[letters.length() - 1];
  }

  /**
   * A request for exactly the prompt's blocks, all of which may be matched.
   *
   * @param letters the prompt
   * @return the request
   */
  public Want want(String letters) {
    return want(prompt(letters));
  }

  /**
   * A request for exactly the prompt's blocks, all of which may be matched.
   *
   * @param prompt the prompt
   * @return the request
   */
  public Want want(Prompt prompt) {
    return new Want(prompt, prompt.blocks(), Math.max(1, prompt.blocks()), 0);
  }

  /**
   * Leases a batch.
   *
   * @param wants its requests
   * @return the batch with its results
   */
  public LeaseBatch lease(Want... wants) {
    LeaseBatch batch = new LeaseBatch();
    for (Want want : wants) {
      batch.add(
          want.prompt.tokens(),
          want.prompt.names(),
          want.prompt.scope(),
          want.matchableBlocks,
          want.blocks,
          want.reserveBlocks);
    }
    pool.lease(batch);
    return batch;
  }

  /**
   * Leases for one request, which must be admitted.
   *
   * @param want the request
   * @return the lease
   */
  public int start(Want want) {
    int lease = lease(want).lease(0);
    assertThat(lease).as("the lease of an admitted request").isNotEqualTo(LeaseBatch.REFUSED);
    return lease;
  }

  /**
   * Leases a prompt's blocks and commits those that were not matched.
   *
   * @param prompt the prompt
   * @return the lease
   */
  public int hold(Prompt prompt) {
    LeaseBatch batch = lease(want(prompt));
    assertThat(batch.lease(0)).isNotEqualTo(LeaseBatch.REFUSED);
    if (batch.matchedBlocks(0) < prompt.blocks()) {
      commit(batch.lease(0), prompt, batch.matchedBlocks(0), prompt.blocks());
    }
    return batch.lease(0);
  }

  /**
   * Leases a prompt's blocks and commits those that were not matched.
   *
   * @param letters the prompt
   * @return the lease
   */
  public int hold(String letters) {
    return hold(prompt(letters));
  }

  /**
   * Caches a prompt's blocks.
   *
   * @param letters the prompt
   */
  public void cache(String letters) {
    release(hold(letters));
  }

  /**
   * Commits blocks of a lease.
   *
   * @param lease the lease
   * @param prompt its prompt
   * @param fromBlock the first block
   * @param toBlock after the last block
   */
  public void commit(int lease, Prompt prompt, int fromBlock, int toBlock) {
    CommitBatch batch = new CommitBatch();
    batch.add(lease, prompt.tokens(), prompt.names(), fromBlock, toBlock);
    pool.commit(batch);
  }

  /**
   * Commits blocks of a lease.
   *
   * @param lease the lease
   * @param letters its prompt
   * @param fromBlock the first block
   * @param toBlock after the last block
   */
  public void commit(int lease, String letters, int fromBlock, int toBlock) {
    commit(lease, prompt(letters), fromBlock, toBlock);
  }

  /**
   * Extends leases.
   *
   * @param leasesAndBlocks pairs of a lease and its additional blocks
   * @return the batch with its results
   */
  public ExtendBatch extend(int... leasesAndBlocks) {
    ExtendBatch batch = new ExtendBatch();
    for (int i = 0; i < leasesAndBlocks.length; i += 2) {
      batch.add(leasesAndBlocks[i], leasesAndBlocks[i + 1]);
    }
    pool.extend(batch);
    return batch;
  }

  /**
   * Releases leases.
   *
   * @param leases the leases
   */
  public void release(int... leases) {
    pool.release(leases, leases.length);
  }

  /**
   * Matches a prompt.
   *
   * @param letters the prompt
   * @return matched leading blocks
   */
  public int held(String letters) {
    return held(prompt(letters));
  }

  /**
   * Matches a prompt.
   *
   * @param prompt the prompt
   * @return matched leading blocks
   */
  public int held(Prompt prompt) {
    ProbeBatch batch = new ProbeBatch();
    batch.add(prompt.names(), prompt.blocks());
    int[] matched = new int[1];
    pool.probe(batch, matched, 0);
    return matched[0];
  }

  /**
   * Reads a block table.
   *
   * @param lease the lease
   * @return numbers of its blocks
   */
  public List<Integer> table(int lease) {
    int[] table = new int[MAX_BLOCKS_PER_LEASE];
    int length = pool.blockTable(lease, table);
    return Arrays.stream(table, 0, length).boxed().toList();
  }

  /**
   * The events since the last call, without their numbers: {@code "+AB"}, {@code "-AB"}, {@code
   * "cleared"}.
   *
   * @return the events, in order
   */
  public List<String> events() {
    return PoolEvent.drain(pool).stream().map(this::describe).toList();
  }

  private String describe(PoolEvent event) {
    String letters = lettersByName.get(event.block());
    return switch (event.kind()) {
      case FIRST_STORED, STORED_AFTER -> "+" + letters;
      case REMOVED -> "-" + letters;
      case CLEARED -> "cleared";
    };
  }

  /**
   * The pool's occupancy.
   *
   * @return its figures
   */
  public Occupancy occupancy() {
    return pool.occupancy();
  }

  /**
   * Free, cached, active and reserved blocks.
   *
   * @return four counts, in this order
   */
  public List<Long> counts() {
    Occupancy now = pool.occupancy();
    return List.of(now.freeBlocks(), now.cachedBlocks(), now.activeBlocks(), now.reservedBlocks());
  }

  /**
   * The pool itself.
   *
   * @return the pool
   */
  public BlockPool pool() {
    return pool;
  }

  @Override
  public void close() {
    pool.close();
  }
}
