package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.FleetResult;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one replay. Ratios are NaN where their denominator is 0.
 *
 * <p>Immutable.
 *
 * @param settings the settings of each worker
 * @param fleet decisions of the fleet layer; null if there was none
 * @param apart what became of requests whose prompt and answer different workers compute; null if
 *     each worker serves whole requests. If present, {@code fleet} is that of the prefill workers,
 *     whose ranks come first
 * @param requests requests that arrived
 * @param foreignRequests those of them that went past the fleet router
 * @param completed requests that were answered
 * @param rejections rejected requests with reasons, in order
 * @param ranks measurements of each rank, worker by worker
 * @param outputTokens tokens of all answers
 * @param upperBoundCachedTokens prompt tokens, of the served requests, that one unbounded pool
 *     shared by all ranks would have cached
 * @param decisions number of placements by reason
 * @param ttft arrival to first token
 * @param itl between tokens of one answer
 * @param queue arrival to first lease
 * @param goodRequests completed requests that kept the objective; empty if there is none
 * @param reuse hit rate by size of the pools; null if it was not measured
 * @param firstTokens time to first token of each request; null if it was not kept
 * @param prefillNs modelled time in which at least one rank of this process prefilled, summed over
 *     the workers
 * @param virtualNs modelled time from the first arrival to the last token, or to the end of the
 *     last transfer
 * @param wallNs real time the replay took
 */
public record ReplayResult(
    ReplaySettings settings,
    @Nullable FleetResult fleet,
    @Nullable ApartResult apart,
    long requests,
    long foreignRequests,
    long completed,
    List<Rejection> rejections,
    List<RankResult> ranks,
    long outputTokens,
    long upperBoundCachedTokens,
    Map<AdpReason, Long> decisions,
    DurationSummary ttft,
    DurationSummary itl,
    DurationSummary queue,
    OptionalLong goodRequests,
    @Nullable ReuseCurve reuse,
    @Nullable FirstTokens firstTokens,
    long prefillNs,
    long virtualNs,
    long wallNs) {

  private static final double NS_PER_S = 1e9;

  /** {@return the number of rejected requests, at least 0} */
  public long rejected() {
    return rejections.size();
  }

  /**
   * Sums a value over the ranks.
   *
   * @param value the value of a rank
   * @return the sum
   */
  public long sum(ToLongFunction<RankResult> value) {
    return ranks.stream().mapToLong(value).sum();
  }

  /** {@return the number of prompt tokens of the served requests, at least 0} */
  public long inputTokens() {
    return sum(RankResult::inputTokens);
  }

  /** {@return the number of prompt tokens that were served from cache, at least 0} */
  public long cachedTokens() {
    return sum(RankResult::cachedTokens);
  }

  /** {@return the share of the prompt tokens that came from cache, 0 to 1} */
  public double tokenHitRate() {
    return (double) cachedTokens() / inputTokens();
  }

  /** {@return the same share for one unbounded pool shared by all ranks, 0 to 1} */
  public double upperBoundTokenHitRate() {
    return (double) upperBoundCachedTokens / inputTokens();
  }

  /**
   * {@return the population standard deviation of requests per rank over their mean, at least 0}
   */
  public double routedCv() {
    return routedPerRank().cv();
  }

  /**
   * {@return the requests of the busiest rank divided by those of the least busy one, at least 1;
   * NaN if a rank got none}
   */
  public double routedMaxOverMin() {
    return routedPerRank().maxOverMin();
  }

  /** {@return the requests of the least busy rank divided by the mean, 0 to 1} */
  public double routedMinOverMean() {
    return routedPerRank().minOverMean();
  }

  /** {@return the requests placed on each rank} */
  public Spread routedPerRank() {
    return routed(ranks);
  }

  /** {@return the ranks that compute prompts for those of other workers; empty without roles} */
  public List<RankResult> prefillRanks() {
    return ranks.subList(0, prefills());
  }

  /** {@return the ranks that generate the answers to such prompts; all ranks without roles} */
  public List<RankResult> decodeRanks() {
    return ranks.subList(prefills(), ranks.size());
  }

  private int prefills() {
    return apart == null ? 0 : apart.settings().prefill().workers() * settings.ranks();
  }

  /** {@return the prompts placed on each rank that computes them for others} */
  public Spread routedPerPrefillRank() {
    return routed(prefillRanks());
  }

  /** {@return the requests placed on each rank that generates answers} */
  public Spread routedPerDecodeRank() {
    return routed(decodeRanks());
  }

  private static Spread routed(List<RankResult> ranks) {
    return Spread.of(ranks.stream().mapToLong(RankResult::requests).toArray());
  }

  /** {@return the requests placed on each worker; a single value if there is one worker} */
  public Spread routedPerWorker() {
    long[] counts = new long[ranks.size() / settings.ranks()];
    for (int rank = 0; rank < ranks.size(); rank++) {
      counts[rank / settings.ranks()] += ranks.get(rank).requests();
    }
    return Spread.of(counts);
  }

  /**
   * {@return the share of the modelled time in which at least one rank of this process prefilled, 0
   * to 1 for one worker}
   */
  public double prefillShare() {
    return (double) prefillNs / virtualNs;
  }

  /** {@return the modelled seconds from the first arrival to the last token, at least 0} */
  public double virtualSeconds() {
    return virtualNs / NS_PER_S;
  }

  /** {@return the wall-clock seconds that the replay took, at least 0} */
  public double wallSeconds() {
    return wallNs / NS_PER_S;
  }

  /** {@return the requests per modelled second that kept the objective; empty if there is none} */
  public OptionalDouble goodput() {
    return goodRequests.isPresent()
        ? OptionalDouble.of(goodRequests.getAsLong() / virtualSeconds())
        : OptionalDouble.empty();
  }

  /** {@return the requests whose latencies are measured, at least 0} */
  public long measuredRequests() {
    return requests - foreignRequests;
  }

  /**
   * {@return the share of the measured requests that kept the objective, 0 to 1; empty if there is
   * none}
   */
  public OptionalDouble goodShare() {
    return goodRequests.isPresent()
        ? OptionalDouble.of((double) goodRequests.getAsLong() / measuredRequests())
        : OptionalDouble.empty();
  }

  /** {@return the output tokens per modelled second, at least 0} */
  public double outputTokensPerSecond() {
    return outputTokens / virtualSeconds();
  }
}
