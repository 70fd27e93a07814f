/**
 * Hashes of token blocks: a local hash of each block's own tokens, and a chained sequence hash that
 * identifies the block together with all blocks before it.
 *
 * <p>{@link io.kvasir.hash.BlockHasher} is the role and {@link io.kvasir.hash.HashFormat} lists the
 * formats. {@link io.kvasir.hash.NativeBlockHasher} computes all of them, with one call into C++
 * per prompt. {@link io.kvasir.hash.TrtllmBlockKeys} also hashes partial blocks, as TensorRT-LLM
 * does. The package does not depend on pools, ranks or routers.
 */
@NullMarked
package io.kvasir.hash;

import org.jspecify.annotations.NullMarked;
