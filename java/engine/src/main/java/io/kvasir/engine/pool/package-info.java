/**
 * One rank's KV blocks and the directory that finds them.
 *
 * <p>{@link io.kvasir.engine.pool.BlockPool} is the role. A block is <i>free</i> (empty),
 * <i>cached</i> (named, and used by no lease) or <i>active</i> (used by at least one lease). A
 * request leases blocks with {@link io.kvasir.engine.pool.LeaseBatch}, adds blocks with {@link
 * io.kvasir.engine.pool.ExtendBatch}, names computed blocks with {@link
 * io.kvasir.engine.pool.CommitBatch} and ends with {@code release}. {@link
 * io.kvasir.engine.pool.BlockPool} specifies the rules, and one contract suite tests every
 * implementation: {@link io.kvasir.engine.pool.NativeBlockPool} in host memory and the pool in GPU
 * memory of package {@code cuda}. Package {@code shared} makes a pool readable by other processes.
 * {@link io.kvasir.engine.pool.HybridBlockPool} adds the cache groups of a hybrid model to a pool.
 *
 * <p>A {@link io.kvasir.engine.pool.PrefixMatcher} matches a batch against all pools of a worker.
 * The package does not manage request life cycles. A pool has no clock and does not refer to other
 * pools.
 */
@NullMarked
package io.kvasir.engine.pool;

import org.jspecify.annotations.NullMarked;
