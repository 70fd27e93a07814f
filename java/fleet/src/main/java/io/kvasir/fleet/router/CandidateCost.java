package io.kvasir.fleet.router;

import io.kvasir.model.RankId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a policy knew of one eligible rank, and the cost that followed. Immutable. Counts that the
 * policy does not keep are 0.
 *
 * @param rank the rank
 * @param matchedBlocks leading blocks of the request that the rank holds
 * @param activePrefillTokens prompt tokens booked there that are still to be computed
 * @param activeBlocks blocks that requests booked there use, shared ones counted once
 * @param newBlocks blocks of the request that no request booked there uses
 * @param activeRequests requests booked there
 * @param terms the cost's terms by name, in the policy's order; empty if it has none
 * @param firstToken the expected time to first token; null if the policy expects none
 */
public record CandidateCost(
    RankId rank,
    int matchedBlocks,
    long activePrefillTokens,
    long activeBlocks,
    int newBlocks,
    int activeRequests,
    Map<String, Double> terms,
    @Nullable FirstTokenForecast firstToken) {

  /** Copies the terms. */
  public CandidateCost {
    terms = Collections.unmodifiableMap(new LinkedHashMap<>(terms));
  }

  /**
   * The cost; lower is better. O(terms).
   *
   * @return the sum of the terms
   */
  public double cost() {
    return terms.values().stream().mapToDouble(Double::doubleValue).sum();
  }
}
