/**
 * Which (worker, rank) holds which prefix, for engines in other processes.
 *
 * <p>A {@link io.kvasir.fleet.index.PrefixIndex} applies the {@link io.kvasir.event.BlockEvent}s of
 * engines and answers matches. {@link io.kvasir.fleet.index.EventStreams} in front of it order the
 * numbered events of each rank and ask a {@link io.kvasir.fleet.index.RecoverySource} for missing
 * ones. {@link io.kvasir.fleet.index.ApproximateIndex} does without events, and {@link
 * io.kvasir.fleet.index.PredictingIndex} bridges the time until they come. The package knows
 * nothing of transports, loads or routers.
 */
package io.kvasir.fleet.index;
