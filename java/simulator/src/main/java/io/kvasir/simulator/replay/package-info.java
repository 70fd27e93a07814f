/**
 * Replays a workload through one worker, or several under a fleet router, in virtual time, along
 * the production path: tokens, native hashes, fleet router, pool probes, ADP router, executors,
 * pools.
 *
 * <p>{@link io.kvasir.simulator.replay.Replay} drives the loop and returns a {@link
 * io.kvasir.simulator.replay.ReplayResult}. Time is modelled by the step engine; the wall clock
 * only measures the duration of the replay. The package does not depend on files, option names or
 * report formats.
 */
@NullMarked
package io.kvasir.simulator.replay;

import org.jspecify.annotations.NullMarked;
