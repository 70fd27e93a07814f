package io.kvasir.benchmarks.index;

/**
 * What an index held at some point of a soak. Immutable.
 *
 * @param blockEvents stored and removed blocks until then
 * @param memory what it held, and the memory
 */
public record SoakCheckpoint(long blockEvents, ResidentMemory memory) {}
