package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEventSink;

/**
 * One rank's KV blocks and their directory.
 *
 * <p><b>Names.</b> A block is named by its sequence hash when its KV has been computed (commit),
 * not when it is allocated; partial blocks have no name. A name exists once. Reuse compares tokens,
 * scope and the identity of the parent block, not only the hash, so a collision never serves
 * foreign KV: a block whose name is taken by other content stays unnamed, and so do all later
 * blocks of its lease.
 *
 * <p><b>Ticks.</b> The tick counts operations: each admitted lease, granted extension and release
 * of one request advances it by one, in batch order, and stamps <i>all</i> blocks of that request.
 * So no ancestor's stamp is older than its descendants'. Probes, commits, refusals and clear stamp
 * nothing.
 *
 * <p><b>Eviction.</b> Only blocks that nobody holds, in ascending (tick of last use, -depth,
 * sequence hash): within a prompt the deepest first, so what remains of a prompt is always a
 * prefix, and a binary search over a prompt's blocks is exact.
 *
 * <p><b>Clear.</b> Cached blocks become free. Active blocks lose their names, and blocks that their
 * leases compute later get none: they build on KV that was declared stale.
 *
 * <p>Thread-safety: {@link #probe} and {@link #occupancy} may be called by any thread until {@link
 * #close} begins; everything else is confined to the rank's executor thread. Use after close throws
 * {@link IllegalStateException}; a call that is still running on another thread when close begins
 * is not waited for, so whoever closes stops the readers first.
 */
public interface BlockPool extends AutoCloseable {

  /**
   * The pool's sizes.
   *
   * @return the shape given at construction
   */
  PoolShape shape();

  /**
   * Looks prompts up without side effects: no pin, no recency. Any thread. Compares names only;
   * {@link #lease} compares content as well, and may find less.
   *
   * @param batch the prompts
   * @param matchedBlocks receives, from {@code offset} on, for each prompt the number of leading
   *     blocks held, contiguous from the first; O(log blocks) per prompt
   * @param offset first index written
   */
  void probe(ProbeBatch batch, int[] matchedBlocks, int offset);

  /**
   * Leases blocks to requests, all or nothing for each. All requests are matched against the state
   * before the batch and their matches are pinned; then the longest prefix of the batch is admitted
   * whose new and reserved blocks fit into what is available (free + evictable - reserved); the
   * others are refused and leave no trace. The shortfall of free blocks is evicted once, then
   * blocks are allocated.
   *
   * @param batch the requests; receives the answers
   * @throws IllegalArgumentException if a request wants more than {@code maxBlocksPerLease}; the
   *     pool is unchanged
   */
  void lease(LeaseBatch batch);

  /**
   * Leases, then extends other leases by no more than their reservations, which cannot be refused.
   * The same as the two calls, and for a pool that puts calls off a single step.
   *
   * @param batch the requests; receives the answers
   * @param reserved the extensions; receives the answers
   * @throws IllegalArgumentException as {@link #lease(LeaseBatch)} and {@link #extend} do, or if an
   *     extension goes beyond a reservation; the pool is unchanged
   */
  default void lease(LeaseBatch batch, ExtendBatch reserved) {
    lease(batch);
    extend(reserved);
  }

  /**
   * Adds blocks to the end of leases. A lease's own reservation is used up first, and what it
   * covers is always granted. The longest prefix of the batch is granted whose remainder is
   * available; later entries get nothing.
   *
   * @param batch the leases; receives the answers
   * @throws IllegalArgumentException for an unknown lease, one given twice, or one that would
   *     outgrow {@code maxBlocksPerLease}; the pool is unchanged
   */
  void extend(ExtendBatch batch);

  /**
   * Names full blocks whose KV has been computed. If a name already exists for the same content,
   * the lease takes a reference on that block and its own copy becomes free.
   *
   * @param batch the leases and their tokens and hashes
   * @throws IllegalArgumentException for an unknown lease or one given twice, a {@code fromBlock}
   *     that is not what was matched and committed before, or a range beyond the lease; the pool is
   *     unchanged
   */
  void commit(CommitBatch batch);

  /**
   * Ends leases: references drop, named blocks that nobody else holds become cached, unnamed ones
   * free, and what was still reserved is given back.
   *
   * @param leases the leases
   * @param count how many of them
   * @throws IllegalArgumentException for an unknown lease or one given twice; the pool is unchanged
   */
  void release(int[] leases, int count);

  /** Forgets every name. One {@link BlockEvent.Cleared} event. */
  void clear();

  /**
   * Begins to carry out what was put off, without waiting. A pool may put off {@link #extend},
   * {@link #commit} and {@link #release}, whose answers it knows; one that does not has nothing to
   * do here.
   */
  default void submit() {}

  /**
   * Waits for what was submitted. Afterwards {@link #probe} and {@link #occupancy} show it; blocks
   * that are put off to be named are found before.
   */
  default void complete() {}

  /** Carries out everything asked so far: {@link #submit}, then {@link #complete}. */
  default void settle() {
    submit();
    complete();
  }

  /**
   * Hands out the events since the last call, oldest first. Event numbers are consecutive from 0; a
   * jump means that events were lost, as they may be if the sink throws. Each event has one block.
   * Handles are sequence hashes, so the events can be applied to an index as they are. The naming
   * is null: a pool does not know who hashes.
   *
   * @param sink receives them on the calling thread; must not use this pool
   * @return how many were handed out
   */
  int drainEvents(BlockEventSink sink);

  /**
   * The pool's occupancy now, without what is put off. Any thread; a load, never a wait for an
   * operation.
   *
   * @return a consistent snapshot
   */
  Occupancy occupancy();

  /**
   * Copies the block table of a lease.
   *
   * @param lease the lease
   * @param table receives block numbers, each from 0 to {@code capacityBlocks} - 1
   * @return the table's length
   * @throws IllegalArgumentException for an unknown lease or a short array
   */
  int blockTable(int lease, int[] table);

  @Override
  void close();
}
