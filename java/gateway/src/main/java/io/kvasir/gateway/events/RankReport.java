package io.kvasir.gateway.events;

import io.kvasir.fleet.wire.SkipCounts;

/**
 * What is known of a rank's blocks, and how far it can be trusted. Immutable, except for the
 * counts.
 *
 * @param feed its event stream
 * @param blocks handles of blocks in the index
 * @param copies further copies of blocks, which the rank holds several times
 * @param gaps how often batches were missing
 * @param untrusted whether an event could not be read, so that the index may be wrong about the
 *     rank
 * @param upperBound whether the engine may reuse less than the index says, because a group of its
 *     cache is not followed
 * @param otherBlockSize block size of events that were refused because of it; 0 if there were none
 * @param namedRank the rank that its last batch named; -1 if it named none
 * @param skips events that were not applied, by cause
 */
public record RankReport(
    FeedStatus feed,
    long blocks,
    long copies,
    long gaps,
    boolean untrusted,
    boolean upperBound,
    int otherBlockSize,
    int namedRank,
    SkipCounts skips) {}
