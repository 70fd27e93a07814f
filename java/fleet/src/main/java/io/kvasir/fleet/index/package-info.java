/**
 * Which (worker, rank) holds which prefix, for engines in other processes.
 *
 * <p>A {@link io.kvasir.fleet.index.PrefixIndex} learns from the {@link
 * io.kvasir.event.CacheChange}s of engines and answers matches; {@link
 * io.kvasir.fleet.index.PrefixIndexes} keeps one for each model and block size. {@link
 * io.kvasir.fleet.index.EventStreams} stand in front of one and see to it that events are numbered
 * without gaps, asking a {@link io.kvasir.fleet.index.RecoverySource} for what got lost. {@link
 * io.kvasir.fleet.index.ApproximateIndex} does without events, and {@link
 * io.kvasir.fleet.index.PredictingIndex} bridges the time until they come. The package knows
 * nothing of transports, loads or routers.
 */
package io.kvasir.fleet.index;
