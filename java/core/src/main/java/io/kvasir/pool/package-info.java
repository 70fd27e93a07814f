/**
 * One rank's KV blocks and the directory that finds them.
 *
 * <p>{@link io.kvasir.pool.BlockPool} is the role. A block is <i>free</i> (holds nothing),
 * <i>cached</i> (holds a named prefix nobody uses) or <i>active</i> (held by at least one lease).
 * Requests enter with {@link io.kvasir.pool.LeaseBatch}, grow with {@link
 * io.kvasir.pool.ExtendBatch}, name what they computed with {@link io.kvasir.pool.CommitBatch} and
 * leave with {@code release}. The rules are written down once, at {@link io.kvasir.pool.BlockPool},
 * and one contract suite holds every implementation to them: {@link io.kvasir.pool.NativeBlockPool}
 * in host memory, {@link io.kvasir.pool.CudaBlockPool} in the memory of a device.
 *
 * <p>{@link io.kvasir.pool.RankPools} makes the pools of an instance and the {@link
 * io.kvasir.pool.PrefixMatcher} that looks a batch up in all of them. Through {@link
 * io.kvasir.pool.SharedPoolRegion} a pool is read from another process, by a {@link
 * io.kvasir.pool.SharedPoolReader}.
 *
 * <p>The package knows nothing of requests' life cycles, and a pool nothing of time or of other
 * pools.
 */
package io.kvasir.pool;
