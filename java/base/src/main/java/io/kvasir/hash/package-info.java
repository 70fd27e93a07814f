/**
 * From tokens to block names: one local hash per block of tokens and one chained sequence hash per
 * block, which names the block together with everything before it.
 *
 * <p>{@link io.kvasir.hash.BlockHasher} is the role, {@link io.kvasir.hash.HashFormat} the list of
 * named formats, {@link io.kvasir.hash.NativeBlockHasher} computes them all: natively, with one
 * crossing into C++ per prompt or per {@link io.kvasir.hash.PromptBatch}. {@link
 * io.kvasir.hash.TrtllmBlockKeys} adds what TensorRT-LLM hashes and pools do not: partial blocks.
 * {@link io.kvasir.hash.DynamoHashing} has the seeds, scopes and multimodal objects of Dynamo's
 * generations. The package knows nothing of pools, ranks or routers.
 */
package io.kvasir.hash;
