/**
 * From tokens to block names: one local hash per block of tokens and one chained sequence hash per
 * block, which names the block together with everything before it.
 *
 * <p>{@link io.kvasir.hash.BlockHasher} is the role, {@link io.kvasir.hash.HashFormat} the list of
 * named formats. Hashing is native and crosses into C++ once per prompt or batch. The package knows
 * nothing of pools, ranks or routers.
 */
package io.kvasir.hash;
