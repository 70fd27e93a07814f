/**
 * What engines publish about their KV blocks: {@link io.kvasir.fleet.wire.WireDecoder} reads the
 * MessagePack batches of vLLM, SGLang and TensorRT-LLM, {@link
 * io.kvasir.fleet.wire.TrtllmEventJson} TensorRT-LLM's JSON, and {@link
 * io.kvasir.fleet.wire.RankEvents} turns what they read into {@link io.kvasir.event.BlockEvent}s.
 * Nothing here does I/O.
 */
@NullMarked
package io.kvasir.fleet.wire;

import org.jspecify.annotations.NullMarked;
