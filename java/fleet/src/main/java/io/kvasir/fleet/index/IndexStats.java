package io.kvasir.fleet.index;

/**
 * What an index holds. Immutable.
 *
 * @param workers workers with at least one known rank
 * @param ranks known ranks
 * @param memberships pairs of a rank and a handle that names a block it holds
 * @param distinctBlocks blocks that some rank holds
 * @param bytes memory in use, in bytes
 * @param evictedMemberships memberships evicted so far to stay within the memory cap
 */
public record IndexStats(
    int workers,
    int ranks,
    long memberships,
    long distinctBlocks,
    long bytes,
    long evictedMemberships) {}
