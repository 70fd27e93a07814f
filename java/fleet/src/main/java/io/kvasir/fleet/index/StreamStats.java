package io.kvasir.fleet.index;

/**
 * Counts of events received over event streams so far. Immutable.
 *
 * @param events events that were applied to the index
 * @param duplicates events ignored because their number was received before
 * @param restarts sequences that started over
 * @param gaps gaps in a sequence
 * @param recoveries times that a rank became visible again after a gap
 * @param overflows events dropped because too many were waiting
 * @param unknownParents events whose parent the rank did not hold
 * @param invalidSequences events with repeated handles
 * @param unknownBlocks removals with unknown handles
 * @param refused events dropped because the index was full
 * @param hiddenRanks ranks with a gap, now
 * @param pendingBlocks events that wait behind gaps now, counted as in {@link StreamLimits}
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
