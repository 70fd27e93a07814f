package io.kvasir.route;

import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankState;
import io.kvasir.model.Request;
import io.kvasir.rank.LoadMetric;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Weighs the prompt tokens that a rank would still have to compute against its load.
 *
 * <p>Decides as TensorRT-LLM's KV-cache-aware ADP router does, ties included. It differs where
 * ill-formed input or a full instance would mislead it: a match is clamped to the prompt's length,
 * the score's denominator is at least 1, and requests that fit nowhere are returned.
 *
 * <p>Not thread-safe. Between calls it keeps which ranks still await their warm-up request.
 */
public final class KvCacheAwareAdpRouter implements AdpRouter {

  /*
   * A batch is placed in three steps.
   *
   * 1. Requests that name a rank with room go there, strict ones before all others. During cold
   *    start a request without a rank goes to the lowest live rank that has not been given one.
   * 2. The rest is sorted by the first 64 tokens, longest first among equals, so that requests that
   *    share a prefix follow one another.
   * 3. Each goes to the eligible rank (one below the soft target) of the lowest
   *
   *      score(rank) = (length - match(rank)) + weight * (tokens(rank) / denominator * length)
   *
   *    where denominator = max(tokens of all eligible ranks, length, 1), and matches count only if
   *    the best one among eligible ranks exceeds the threshold's share of the prompt. Equal scores:
   *    fewer tokens; then the rank that comes first when the eligible ranks are shuffled with the
   *    request's id as seed. Only such a tie costs the shuffle.
   *
   * Every process must reach the same answer from the same doubles: the operations of the score are
   * to stay in the order in which they are written.
   */

  private static final int GROUPING_TOKENS = 64;

  private final KvCacheRoutingOptions options;
  private final boolean explain;
  private final BitSet warmupPending = new BitSet();

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final CPythonShuffle shuffle;
  private final int[] eligible;
  private int eligibleCount;
  /* By position in eligible, for the request being scored. */
  private final int[] matchedTokens;
  private final double[] scores;
  private final int[] tied;

  /**
   * Makes a router whose decisions carry no scores.
   *
   * @param ranks ranks of the instance
   * @param options weights and thresholds
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public KvCacheAwareAdpRouter(int ranks, KvCacheRoutingOptions options) {
    this(ranks, options, false);
  }

  /**
   * Makes a router.
   *
   * @param ranks ranks of the instance
   * @param options weights and thresholds
   * @param explain whether decisions carry the scores that were compared
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public KvCacheAwareAdpRouter(int ranks, KvCacheRoutingOptions options, boolean explain) {
    this.batch = new PlacementBatch(ranks);
    this.ranks = batch.ranks();
    this.options = options;
    this.explain = explain;
    this.shuffle = new CPythonShuffle(ranks);
    this.eligible = new int[ranks];
    this.matchedTokens = new int[ranks];
    this.scores = new double[ranks];
    this.tied = new int[ranks];
    if (options.coldStartWarmup()) {
      warmupPending.set(0, ranks);
    }
  }

  @Override
  public String name() {
    return AdpRouterKind.KV_CACHE_AWARE.id();
  }

  @Override
  public boolean needsPrefixMatches() {
    return true;
  }

  @Override
  public LoadMetric loadMetric() {
    return LoadMetric.UNCACHED_PROMPT_TOKENS;
  }

  /** The ranks that still await their warm-up request. */
  BitSet warmupPending() {
    return (BitSet) warmupPending.clone();
  }

  @Override
  public Assignment route(
      List<RankState> states,
      List<Request> requests,
      PrefixMatches matches,
      int maxActiveRequests) {
    batch.begin(states, requests, matches, maxActiveRequests);
    placeTargeted();
    int expected = batch.softTarget(options.fairShareMultiplier());
    batch.sortDeferred((a, b) -> compareForGrouping(batch.request(a), batch.request(b)));
    collectEligible(expected);
    int placed = 0;
    while (placed < batch.deferredCount() && eligibleCount > 0) {
      placeByScore(batch.deferred(placed), expected);
      placed++;
    }
    return batch.finish(placed, expected);
  }

  private void placeTargeted() {
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      Reason reason = Reason.EXPLICIT;
      if (target == Request.ANY_RANK) {
        target = ranks.firstLive(warmupPending); // -1, like ANY_RANK, if there is none
        reason = Reason.WARMUP;
      }
      if (target >= 0 && batch.hasRoom(target)) {
        batch.place(
            index, target, reason, uncachedTokens(index, batch.matchedTokens(target, index)));
        warmupPending.clear(target);
      } else {
        batch.defer(index);
      }
    }
  }

  private int uncachedTokens(int index, int matched) {
    return batch.request(index).promptTokens() - matched;
  }

  private static int compareForGrouping(Request a, Request b) {
    int[] left = a.tokens();
    int[] right = b.tokens();
    int byPrefix =
        Arrays.compareUnsigned(
            left,
            0,
            Math.min(left.length, GROUPING_TOKENS),
            right,
            0,
            Math.min(right.length, GROUPING_TOKENS));
    return byPrefix != 0 ? byPrefix : Integer.compare(right.length, left.length);
  }

  private void collectEligible(int expected) {
    eligibleCount = 0;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      if (ranks.activeRequests(rank) < expected) {
        eligible[eligibleCount++] = rank;
      }
    }
  }

  private void placeByScore(int index, int expected) {
    boolean matchesCount = score(index);
    int position = best(batch.request(index).id());
    int rank = eligible[position];
    int matched = matchedTokens[position];
    Reason reason = matchesCount && matched > 0 ? Reason.AFFINITY : Reason.LOAD;
    int uncached = uncachedTokens(index, matched);
    if (explain) {
      batch.place(
          index,
          rank,
          reason,
          uncached,
          Arrays.copyOf(eligible, eligibleCount),
          Arrays.copyOf(scores, eligibleCount));
    } else {
      batch.place(index, rank, reason, uncached);
    }
    if (ranks.activeRequests(rank) >= expected) {
      eligibleCount--;
      System.arraycopy(eligible, position + 1, eligible, position, eligibleCount - position);
    }
  }

  /** Scores the eligible ranks; true if matches counted. */
  private boolean score(int index) {
    int length = batch.request(index).promptTokens();
    long load = 0;
    int longestMatch = 0;
    for (int i = 0; i < eligibleCount; i++) {
      int rank = eligible[i];
      load += ranks.activeTokens(rank);
      matchedTokens[i] = batch.matchedTokens(rank, index);
      longestMatch = Math.max(longestMatch, matchedTokens[i]);
    }
    double denominator = Math.max(Math.max(load, length), 1);
    boolean matchesCount =
        (double) longestMatch / Math.max(length, 1) > options.matchRateThreshold();
    double weight = options.loadBalanceWeight();
    for (int i = 0; i < eligibleCount; i++) {
      int uncached = matchesCount ? length - matchedTokens[i] : length;
      scores[i] = uncached + weight * (ranks.activeTokens(eligible[i]) / denominator * length);
    }
    return matchesCount;
  }

  /** The position in {@link #eligible} of the rank to take. */
  private int best(long requestId) {
    int ties = 0;
    double bestScore = 0;
    long bestTokens = 0;
    for (int i = 0; i < eligibleCount; i++) {
      double score = scores[i];
      long tokens = ranks.activeTokens(eligible[i]);
      if (ties == 0 || score < bestScore || (score == bestScore && tokens < bestTokens)) {
        bestScore = score;
        bestTokens = tokens;
        tied[0] = i;
        ties = 1;
      } else if (score == bestScore && tokens == bestTokens) {
        tied[ties++] = i;
      }
    }
    return ties == 1 ? tied[0] : shuffle.firstOf(tied, ties, requestId, eligibleCount);
  }
}
