/**
 * Replays a workload through one worker, or several under a serve router, in virtual time, along
 * the real path: tokens, native hashes, serve router, pool probes, ADP router, executors, pools.
 *
 * <p>{@link io.kvasir.simulator.replay.Replay} drives the loop and yields a {@link
 * io.kvasir.simulator.replay.ReplayResult}. Time is what the step engine models; the wall clock
 * only times the replay itself. The package knows nothing of files, of options' names or of how
 * results are shown.
 */
package io.kvasir.simulator.replay;
