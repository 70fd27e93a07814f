/**
 * One rank's KV blocks and the directory that finds them.
 *
 * <p>{@link io.kvasir.engine.pool.BlockPool} is the role. A block is <i>free</i> (holds nothing),
 * <i>cached</i> (holds a named prefix that no lease uses) or <i>active</i> (held by at least one
 * lease). Requests enter with {@link io.kvasir.engine.pool.LeaseBatch}, grow with {@link
 * io.kvasir.engine.pool.ExtendBatch}, name what they computed with {@link
 * io.kvasir.engine.pool.CommitBatch} and leave with {@code release}. The rules are written once, at
 * {@link io.kvasir.engine.pool.BlockPool}, and one contract suite holds every implementation to
 * them: {@link io.kvasir.engine.pool.NativeBlockPool} in host memory and the pool in GPU memory of
 * package {@code cuda}. Package {@code shared} lets other processes read a pool.
 *
 * <p>A {@link io.kvasir.engine.pool.PrefixMatcher} looks a batch up in all pools of a worker. The
 * package contains no request life cycles; a pool has no clock and does not refer to other pools.
 */
package io.kvasir.engine.pool;
