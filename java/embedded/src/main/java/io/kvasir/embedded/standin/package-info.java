/**
 * Ranks of this process in the place of vLLM, SGLang or TensorRT-LLM. {@link
 * io.kvasir.embedded.standin.StandIn} opens the ports on which the other engine publishes its
 * blocks and steps, and adds its endpoints ({@code SglangEndpoints}, {@code TrtllmEndpoints}),
 * TensorRT-LLM's polled events, and {@code /debug/blocks} and {@code /debug/faults}.
 *
 * <p>The package does not depend on models in files. The bytes of events are in {@code publish}.
 *
 * <p>Tests: {@code StandInEndpointsTest}, {@code StandInEventsTest}, {@code StandInFaultsTest}.
 */
@NullMarked
package io.kvasir.embedded.standin;

import org.jspecify.annotations.NullMarked;
