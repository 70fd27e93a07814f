/**
 * Tracks which (worker, rank) holds which prefix, for engines in other processes.
 *
 * <p>A {@link io.kvasir.fleet.index.PrefixIndex} applies the {@link io.kvasir.event.BlockEvent}s of
 * engines and answers matches. {@link io.kvasir.fleet.index.EventStreams} puts the numbered events
 * of each rank in order and asks a {@link io.kvasir.fleet.index.RecoverySource} for missing ones.
 * {@link io.kvasir.fleet.index.ApproximateIndex} works without events, and {@link
 * io.kvasir.fleet.index.PredictingIndex} bridges the time until they arrive. The package does not
 * depend on transports, loads or routers.
 */
@NullMarked
package io.kvasir.fleet.index;

import org.jspecify.annotations.NullMarked;
