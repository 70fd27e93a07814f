package io.kvasir.fleet.router.trtllm;

import io.kvasir.hash.TrtllmHash;

/**
 * One change of what a server's KV cache holds, as far as routing cares.
 *
 * <p>Immutable by contract: the arrays are not copied and must not be changed by anyone.
 */
public sealed interface CacheEvent {

  /**
   * Blocks got their names.
   *
   * @param hash how the server names blocks, or null if the event does not say
   * @param keys the blocks, parents first; digests in their short form
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  record Stored(TrtllmHash hash, long[] keys) implements CacheEvent {}

  /**
   * Blocks were evicted.
   *
   * @param hash how the server names blocks, or null if the event does not say
   * @param keys the blocks
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  record Removed(TrtllmHash hash, long[] keys) implements CacheEvent {}
}
