package io.kvasir.fleet.index;

/**
 * What has come over event streams so far. Immutable.
 *
 * @param events events that were given to the index
 * @param duplicates events passed over, for their number was known
 * @param restarts sequences that started over
 * @param gaps jumps in a sequence
 * @param recoveries times that a rank could be matched again after a gap
 * @param overflows events dropped because too many waited
 * @param unknownParents events whose parent the rank did not hold
 * @param invalidSequences events with handles that come twice
 * @param unknownBlocks removals with unknown handles
 * @param refused events that the index had no room for
 * @param hiddenRanks ranks with a gap, now
 * @param pendingBlocks what waits behind gaps, now, as {@link StreamLimits} counts it
 */
public record StreamStats(
    long events,
    long duplicates,
    long restarts,
    long gaps,
    long recoveries,
    long overflows,
    long unknownParents,
    long invalidSequences,
    long unknownBlocks,
    long refused,
    long hiddenRanks,
    long pendingBlocks) {}
