/**
 * Fits the step times of an engine to the log of its requests.
 *
 * <p>{@link io.kvasir.simulator.timing.EngineLog} reads the log, {@link
 * io.kvasir.simulator.timing.StepTimingFit} fits {@link io.kvasir.timing.StepTiming} to it.
 */
@NullMarked
package io.kvasir.simulator.timing;

import org.jspecify.annotations.NullMarked;
