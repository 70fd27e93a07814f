/**
 * Pools that other processes read: {@link io.kvasir.engine.pool.shared.SharedPoolRegion} is the
 * memory-mapped file in which a pool keeps its occupancy page and event ring, {@link
 * io.kvasir.engine.pool.shared.SharedPoolReader} follows it from another process, and {@link
 * io.kvasir.engine.pool.shared.SharedPrefixMatcher} matches prompts in several of them.
 *
 * <p>A reader needs neither the pool's device nor its process' cooperation beyond the file.
 */
package io.kvasir.engine.pool.shared;
