package io.kvasir.benchmarks.index;

import java.util.List;

/**
 * All figures of one index. Immutable.
 *
 * @param kind which index
 * @param answers a number that two indexes have in common if all their answers were the same
 * @param all everything, on one thread
 * @param reads look-ups alone, on one thread, in the state that everything left
 * @param writes changes alone, on one thread
 * @param deadlines everything against deadlines, by window
 * @param resident memory when the corpus ended
 * @param oneHolder memory of chains that one rank holds each
 * @param sixteenHolders memory of chains that sixteen ranks hold
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
