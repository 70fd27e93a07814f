package io.kvasir.gateway.verify;

/**
 * A rank's blocks in the index compared with its engine's own. Immutable.
 *
 * @param engineBlocks blocks that the engine holds
 * @param indexBlocks handles of blocks in the index
 * @param missing blocks of the engine that the index lacks
 * @param extra handles of the index that the engine does not hold
 */
public record BlockParity(long engineBlocks, long indexBlocks, long missing, long extra) {}
