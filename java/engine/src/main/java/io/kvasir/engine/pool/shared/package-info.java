/**
 * Pools that other processes can read. {@link io.kvasir.engine.pool.shared.SharedPoolRegion} is the
 * memory-mapped file with a pool's occupancy page and event ring. {@link
 * io.kvasir.engine.pool.shared.SharedPoolReader} reads it from another process. {@link
 * io.kvasir.engine.pool.shared.SharedPrefixMatcher} matches prompts against several such pools.
 *
 * <p>A reader needs only the file: it uses neither the pool's device nor any other channel to its
 * process.
 */
@NullMarked
package io.kvasir.engine.pool.shared;

import org.jspecify.annotations.NullMarked;
