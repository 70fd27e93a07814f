package io.kvasir.benchmarks.index;

import java.util.List;

/**
 * All figures of one index. Immutable.
 *
 * @param kind the index
 * @param answers a digest of all answers, equal for two indexes that gave the same answers
 * @param all all operations, on one thread
 * @param reads look-ups only, on one thread, after a full replay
 * @param writes changes only, on one thread
 * @param deadlines all operations against deadlines, by window
 * @param resident memory at the end of the corpus
 * @param oneHolder memory of chains held by one rank each
 * @param sixteenHolders memory of chains held by sixteen ranks each
 */
public record IndexFigures(
    IndexKind kind,
    long answers,
    ReplayFigures all,
    ReplayFigures reads,
    ReplayFigures writes,
    List<DeadlineFigures> deadlines,
    ResidentMemory resident,
    MembershipMemory oneHolder,
    MembershipMemory sixteenHolders) {}
