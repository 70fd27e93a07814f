package io.kvasir.fleet.router.booking;

import io.kvasir.model.RankId;

/**
 * How much of a placed request its rank's cache holds. Immutable.
 *
 * @param requestId the request
 * @param rank its rank
 * @param inputBlocks full blocks of its prompt
 * @param matchedBlocks leading blocks that the rank holds
 */
public record HitRateEvent(long requestId, RankId rank, int inputBlocks, int matchedBlocks) {}
