package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.simulator.fleet.FleetResult;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Everything that one replay measured. Ratios are NaN where their denominator is 0.
 *
 * <p>Immutable.
 *
 * @param settings the worker, or each of them
 * @param fleet the choices of the fleet layer; null if there was none
 * @param requests requests that arrived
 * @param completed requests that were answered
 * @param rejections requests that were rejected and why, in order
 * @param ranks what each rank did, worker by worker
 * @param outputTokens tokens of all answers
 * @param upperBoundCachedTokens prompt tokens that one unbounded pool shared by all ranks would
 *     have held, of the requests that were served
 * @param decisions how many placements had which reason
 * @param ttft arrival to first token
 * @param itl between tokens of one answer
 * @param queue arrival to first lease
 * @param prefillNs modelled time in which some rank of this process prefilled, summed over the
 *     workers
 * @param virtualNs modelled time from the first arrival to the last token, or to the end of the
 *     last transfer
 * @param wallNs real time the replay took
 */
public record ReplayResult(
    ReplaySettings settings,
    FleetResult fleet,
    long requests,
    long completed,
    List<Rejection> rejections,
    List<RankResult> ranks,
    long outputTokens,
    long upperBoundCachedTokens,
    Map<AdpReason, Long> decisions,
    DurationSummary ttft,
    DurationSummary itl,
    DurationSummary queue,
    long prefillNs,
    long virtualNs,
    long wallNs) {

  private static final double NS_PER_S = 1e9;

  /**
   * Requests that were rejected.
   *
   * @return at least 0
   */
  public long rejected() {
    return rejections.size();
  }

  /**
   * A sum over the ranks.
   *
   * @param value what to add up
   * @return the sum
   */
  public long sum(ToLongFunction<RankResult> value) {
    return ranks.stream().mapToLong(value).sum();
  }

  /**
   * Prompt tokens of the requests that were served.
   *
   * @return at least 0
   */
  public long inputTokens() {
    return sum(RankResult::inputTokens);
  }

  /**
   * Prompt tokens that were served from cache.
   *
   * @return at least 0
   */
  public long cachedTokens() {
    return sum(RankResult::cachedTokens);
  }

  /**
   * Share of the prompt tokens that came from cache.
   *
   * @return 0 to 1
   */
  public double tokenHitRate() {
    return (double) cachedTokens() / inputTokens();
  }

  /**
   * The same share for one unbounded pool shared by all ranks.
   *
   * @return 0 to 1
   */
  public double upperBoundTokenHitRate() {
    return (double) upperBoundCachedTokens / inputTokens();
  }

  /**
   * Population standard deviation of requests per rank over their mean.
   *
   * @return at least 0
   */
  public double routedCv() {
    return routedPerRank().cv();
  }

  /**
   * Requests of the busiest rank over those of the least busy one.
   *
   * @return at least 1, or NaN if some rank got none
   */
  public double routedMaxOverMin() {
    return routedPerRank().maxOverMin();
  }

  /**
   * Requests of the least busy rank over their mean.
   *
   * @return 0 to 1
   */
  public double routedMinOverMean() {
    return routedPerRank().minOverMean();
  }

  /**
   * Requests that were placed on each rank.
   *
   * @return the spread
   */
  public Spread routedPerRank() {
    return Spread.of(ranks.stream().mapToLong(RankResult::requests).toArray());
  }

  /**
   * Requests that were placed in each worker.
   *
   * @return the spread; of one number if there is one worker
   */
  public Spread routedPerWorker() {
    long[] counts = new long[ranks.size() / settings.ranks()];
    for (int rank = 0; rank < ranks.size(); rank++) {
      counts[rank / settings.ranks()] += ranks.get(rank).requests();
    }
    return Spread.of(counts);
  }

  /**
   * Share of the modelled time in which some rank of this process prefilled.
   *
   * @return 0 to 1 for one worker
   */
  public double prefillShare() {
    return (double) prefillNs / virtualNs;
  }

  /**
   * Modelled seconds from the first arrival to the last token.
   *
   * @return at least 0
   */
  public double virtualSeconds() {
    return virtualNs / NS_PER_S;
  }

  /**
   * Real seconds that the replay took.
   *
   * @return at least 0
   */
  public double wallSeconds() {
    return wallNs / NS_PER_S;
  }

  /**
   * Output tokens per modelled second.
   *
   * @return at least 0
   */
  public double outputTokensPerSecond() {
    return outputTokens / virtualSeconds();
  }
}
