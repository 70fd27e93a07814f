package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEventSink;

/**
 * One rank's KV blocks and their directory.
 *
 * <p><b>Names.</b> A block is <i>named</i> when the directory maps its sequence hash to it. This
 * happens when its KV has been computed (commit), not when it is allocated. Partial blocks are
 * never named. A sequence hash names at most one block. Reuse compares tokens, scope and parent
 * block, not only the hash, so a hash collision never serves foreign KV. If a sequence hash already
 * names a block with other content, the new block and all later blocks of its lease stay unnamed.
 *
 * <p><b>Ticks.</b> The tick counts operations. Each admitted lease, granted extension and release
 * of one request advances it by one, in batch order, and stamps <i>all</i> blocks of that request.
 * A block's stamp is therefore never older than the stamps of its descendants. Probes, commits,
 * refusals and clear do not change stamps.
 *
 * <p><b>Eviction.</b> Only cached blocks are evicted, in ascending order of (tick of last use,
 * -depth, sequence hash). Within a prompt the deepest block is evicted first. The remaining blocks
 * of a prompt are therefore always a prefix, and a binary search over a prompt's blocks is exact.
 *
 * <p><b>Clear.</b> Cached blocks become free. Active blocks become unnamed. Blocks that their
 * leases compute later stay unnamed, because they depend on stale KV.
 *
 * <p><b>Threads.</b> Any thread may call {@link #probe}, {@link #occupancy} and {@link #close}.
 * Everything else is confined to one thread: the first that calls any of it, until that thread
 * calls {@link #handOver} or ends. A call by another thread, and any call after close, throws
 * {@link IllegalStateException} and changes nothing. Close waits for calls that have begun.
 */
public interface BlockPool extends AutoCloseable {

  /** {@return the pool's sizes} */
  PoolShape shape();

  /**
   * Matches prompts without side effects: it neither pins nor stamps blocks. Any thread. Compares
   * sequence hashes only; {@link #lease} also compares content and may match fewer blocks.
   *
   * @param batch the prompts
   * @param matchedBlocks receives, from {@code offset} on, the number of matched blocks of each
   *     prompt; O(log blocks) per prompt
   * @param offset first index written
   */
  void probe(ProbeBatch batch, int[] matchedBlocks, int offset);

  /**
   * Leases blocks to requests, all or nothing for each. All requests are matched against the state
   * before the batch, and their matches are pinned. The longest prefix of the batch is then
   * admitted whose new and reserved blocks fit into the available blocks (free + evictable -
   * reserved). The other requests are refused without side effects. The missing free blocks are
   * evicted once, and then blocks are allocated.
   *
   * @param batch the requests; receives the answers
   * @throws IllegalArgumentException if a request needs more than {@code maxBlocksPerLease} blocks;
   *     the pool is unchanged
   */
  void lease(LeaseBatch batch);

  /**
   * Leases, then extends other leases within their reservations, which is always granted.
   * Equivalent to the two calls, but a pool that defers calls carries both out in one step.
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
   * Appends blocks to leases. A lease's own reservation is used first and is always granted. For
   * the blocks beyond the reservations, the longest prefix of the batch is granted that fits into
   * the available blocks; later entries are refused.
   *
   * @param batch the leases; receives the answers
   * @throws IllegalArgumentException for an unknown lease, a lease that is in the batch twice, or a
   *     lease that would exceed {@code maxBlocksPerLease}; the pool is unchanged
   */
  void extend(ExtendBatch batch);

  /**
   * Names full blocks whose KV has been computed. If another block is already named for the same
   * content, the lease takes a reference on that block and its own copy becomes free.
   *
   * @param batch the leases and their tokens and hashes
   * @throws IllegalArgumentException for an unknown lease, a lease that is in the batch twice, a
   *     {@code fromBlock} that differs from the blocks matched and committed before, or a range
   *     beyond the lease; the pool is unchanged
   */
  void commit(CommitBatch batch);

  /**
   * Ends leases and their reservations. Of the blocks that no other lease uses, named blocks become
   * cached and unnamed blocks become free.
   *
   * @param leases the leases
   * @param count number of leases
   * @throws IllegalArgumentException for an unknown lease or a lease that is listed twice; the pool
   *     is unchanged
   */
  void release(int[] leases, int count);

  /** Makes all blocks unnamed. Emits one {@link BlockEvent.Cleared} event. */
  void clear();

  /**
   * Starts the deferred operations without waiting for them. A pool may defer {@link #extend},
   * {@link #commit} and {@link #release}, because it can answer them at once. Other pools do
   * nothing here.
   */
  default void submit() {}

  /**
   * Waits for the submitted operations. {@link #probe} and {@link #occupancy} include them
   * afterwards. {@link #probe} finds the blocks of a deferred commit even before.
   */
  default void complete() {}

  /** Completes all operations so far: {@link #submit}, then {@link #complete}. */
  default void settle() {
    submit();
    complete();
  }

  /**
   * Passes the events since the last call to a sink, oldest first. Event numbers are consecutive
   * from 0. A gap means that events were dropped; this can also happen if the sink throws. Each
   * event has one block. Handles are sequence hashes, so the events can be applied to an index
   * without change. The naming is null, because a pool is independent of the hash format.
   *
   * @param sink receives the events on the calling thread; must not use this pool
   * @return number of events passed to the sink
   */
  int drainEvents(BlockEventSink sink);

  /**
   * The pool's current occupancy, without deferred operations. Any thread. Never waits for an
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

  /**
   * Releases the pool from the calling thread, so that the next thread that changes it owns it. The
   * caller passes the pool to that thread safely. A pool that is not confined does nothing.
   *
   * @throws IllegalStateException if the pool belongs to another thread
   */
  default void handOver() {}

  /**
   * Frees the pool's memory, after all calls that have begun. Later calls of close do nothing. The
   * caller must not be inside a call of this pool.
   */
  @Override
  void close();
}
