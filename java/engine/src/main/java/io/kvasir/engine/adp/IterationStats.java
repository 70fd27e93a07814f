package io.kvasir.engine.adp;

/**
 * Statistics of one iteration of a rank, gathered together with its state.
 *
 * <p>Immutable.
 *
 * @param iteration the iteration's number, -1 if unknown
 * @param contextRequests requests that prefilled
 * @param contextTokens tokens that these requests computed
 * @param contextKvTokens KV tokens that these requests held
 * @param generationRequests requests that decoded
 * @param generationKvTokens KV tokens that these requests held
 * @param pausedRequests requests that were paused
 * @param pausedKvTokens KV tokens that these requests held before the pause
 */
public record IterationStats(
    long iteration,
    long contextRequests,
    long contextTokens,
    long contextKvTokens,
    long generationRequests,
    long generationKvTokens,
    long pausedRequests,
    long pausedKvTokens) {}
