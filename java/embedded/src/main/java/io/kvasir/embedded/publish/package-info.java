/**
 * What engines publish about their blocks: events of vLLM, SGLang and TensorRT-LLM over ZMQ, with
 * replay, faults that can be switched on, and the metrics of steps. {@link
 * io.kvasir.embedded.publish.EventPublisher} has the sockets of all ranks, {@code EventEncoder} the
 * bytes, {@link io.kvasir.embedded.publish.StepPublisher} the metrics.
 *
 * <p>The package does not depend on the ranks whose blocks it publishes, or on requests.
 *
 * <p>Tests: {@code StandInEventsTest} and {@code StandInFaultsTest}, through an engine.
 */
@NullMarked
package io.kvasir.embedded.publish;

import org.jspecify.annotations.NullMarked;
