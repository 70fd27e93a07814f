package io.kvasir.engine.adp;

/**
 * What a rank did in one iteration; rides along when rank states are gathered.
 *
 * <p>Immutable.
 *
 * @param iteration the iteration's number, -1 if unknown
 * @param contextRequests requests that prefilled
 * @param contextTokens tokens that they computed
 * @param contextKvTokens tokens of KV that they held
 * @param generationRequests requests that decoded
 * @param generationKvTokens tokens of KV that they held
 * @param pausedRequests requests that were paused
 * @param pausedKvTokens tokens of KV that they had held
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
