package io.kvasir.fleet.router.cost;

import io.kvasir.model.RankId;

/**
 * How much of a dispatched request its rank's cache holds. Immutable.
 *
 * @param requestId who was dispatched
 * @param rank who serves it
 * @param inputBlocks full blocks of its prompt
 * @param overlapBlocks how many of them the rank holds
 */
public record HitRateEvent(long requestId, RankId rank, int inputBlocks, int overlapBlocks) {

  static HitRateEvent of(CostDecision decision) {
    SelectionRequest request = decision.request();
    return new HitRateEvent(
        request.requestId(), decision.rank(), request.blocks(), decision.overlapBlocks());
  }
}
