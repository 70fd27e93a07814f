/**
 * What engines publish about their blocks: events of vLLM, SGLang and TensorRT-LLM over ZMQ, with
 * replay, faults that can be switched on, and the metrics of steps. For engines of this process
 * that stand in for real ones.
 */
@NullMarked
package io.kvasir.embedded.publish;

import org.jspecify.annotations.NullMarked;
