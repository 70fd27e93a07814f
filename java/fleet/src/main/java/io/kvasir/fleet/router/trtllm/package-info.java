/**
 * The routers of TensorRT-LLM's disaggregated server that follow blocks or conversations.
 *
 * <p>{@link io.kvasir.fleet.router.trtllm.KvCacheAwareFleetRouter} and {@link
 * io.kvasir.fleet.router.trtllm.ConversationFleetRouter} choose a worker and leave the rank to the
 * worker's ADP router. {@link io.kvasir.fleet.router.trtllm.DisaggFlow} splits a request into its
 * context and its generation part, as a pure function.
 *
 * <p>The package contains no HTTP and starts no thread.
 */
@NullMarked
package io.kvasir.fleet.router.trtllm;

import org.jspecify.annotations.NullMarked;
