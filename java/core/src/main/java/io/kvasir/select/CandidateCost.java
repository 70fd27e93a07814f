package io.kvasir.select;

import io.kvasir.model.RankId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a decision knew of one candidate, and what that cost it. Immutable.
 *
 * @param rank who
 * @param overlapBlocks see {@link Candidates#overlapBlocks}
 * @param activePrefillTokens see {@link Candidates#activePrefillTokens}
 * @param activeBlocks see {@link Candidates#activeBlocks}
 * @param newBlocks see {@link Candidates#newBlocks}
 * @param activeRequests see {@link Candidates#activeRequests}
 * @param terms the cost's terms by name, in the selector's order; empty if it named none
 */
public record CandidateCost(
    RankId rank,
    int overlapBlocks,
    long activePrefillTokens,
    long activeBlocks,
    int newBlocks,
    int activeRequests,
    Map<String, Double> terms) {

  /** Copies the terms. */
  public CandidateCost {
    terms = Collections.unmodifiableMap(new LinkedHashMap<>(terms));
  }

  static CandidateCost of(Candidates candidates, int i, Map<String, Double> terms) {
    return new CandidateCost(
        candidates.rank(i),
        candidates.overlapBlocks(i),
        candidates.activePrefillTokens(i),
        candidates.activeBlocks(i),
        candidates.newBlocks(i),
        candidates.activeRequests(i),
        terms);
  }

  /**
   * The cost. O(terms).
   *
   * @return the sum of the terms
   */
  public double cost() {
    return terms.values().stream().mapToDouble(Double::doubleValue).sum();
  }
}
