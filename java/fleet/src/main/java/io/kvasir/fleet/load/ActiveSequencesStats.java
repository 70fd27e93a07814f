package io.kvasir.fleet.load;

/**
 * What {@link ActiveSequences} hold and have seen. Immutable.
 *
 * @param ranks known ranks
 * @param requests requests in flight
 * @param liveBlocks distinct blocks by name that some request uses
 * @param runs nodes of the tree that they form: runs of blocks, at most twice the requests
 * @param unknownFrees ends of attempts that were not in flight, so far
 * @param staleRequests requests given up for want of a sign of life, so far
 */
public record ActiveSequencesStats(
    int ranks, int requests, long liveBlocks, int runs, long unknownFrees, long staleRequests) {}
