package io.kvasir.fleet.router.whatif;

import io.kvasir.model.RankId;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What became of the requests under one policy. Immutable.
 *
 * @param router the policy's name
 * @param requests requests that it placed
 * @param refused requests that it did not place
 * @param promptTokens prompt tokens of the requests that it placed
 * @param hitTokens those of them that the chosen ranks held
 * @param placed requests by rank, without those on ranks that have been removed; by worker, under
 *     {@link RankId#anyOf}, for policies that choose workers
 * @param firstTokenP50Ms the median of the times to the first token on these ranks, in
 *     milliseconds; not a number if they are not known
 * @param firstTokenP95Ms the 95th percentile, likewise
 */
public record WhatIfCounts(
    String router,
    long requests,
    long refused,
    long promptTokens,
    long hitTokens,
    SortedMap<RankId, Long> placed,
    double firstTokenP50Ms,
    double firstTokenP95Ms) {

  /** Copies the map. */
  public WhatIfCounts {
    placed = Collections.unmodifiableSortedMap(new TreeMap<>(placed));
  }

  /** {@return the share of the placed requests that went to one rank, the busiest; 0 for none} */
  public double busiestShare() {
    long most = placed.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return most == 0 ? 0 : most / (double) requests;
  }

  /** {@return the share of the prompt tokens that the ranks held; 0 without requests} */
  public double hitRate() {
    return promptTokens == 0 ? 0 : hitTokens / (double) promptTokens;
  }
}
