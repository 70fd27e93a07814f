/**
 * One rank's KV blocks and the directory that finds them.
 *
 * <p>{@link io.kvasir.pool.BlockPool} is the role. A block is <i>free</i> (holds nothing),
 * <i>cached</i> (holds a named prefix nobody uses) or <i>active</i> (held by at least one lease).
 * Requests enter with {@link io.kvasir.pool.LeaseBatch}, grow with {@link
 * io.kvasir.pool.ExtendBatch}, name what they computed with {@link io.kvasir.pool.CommitBatch} and
 * leave with {@code release}. The rules are written down once, at {@link io.kvasir.pool.BlockPool},
 * and one contract suite holds every implementation to them.
 *
 * <p>The package knows nothing of requests' life cycles, of time or of other ranks.
 */
package io.kvasir.pool;
