package io.kvasir.benchmarks.index;

/**
 * Contents and memory of an index at some point of a soak. Immutable.
 *
 * @param blockEvents stored and removed blocks up to then
 * @param memory its contents and memory
 */
public record SoakCheckpoint(long blockEvents, ResidentMemory memory) {}
