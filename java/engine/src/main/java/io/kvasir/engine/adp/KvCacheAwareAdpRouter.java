package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Weighs the prompt tokens that a rank would have to compute against its load.
 *
 * <p>Makes the same decisions as TensorRT-LLM's KV-cache-aware ADP router, ties included. It
 * differs for malformed input and full workers: a match is clamped to the prompt's length, the
 * score's denominator is at least 1, and requests that fit nowhere are returned.
 *
 * <p>Where occupancy is known, ranks that cannot hold a request are skipped while others can.
 *
 * <p>Not thread-safe. Between calls it keeps the ranks that still await their warm-up request, and
 * the round-robin cursor of first turns.
 */
public final class KvCacheAwareAdpRouter implements AdpRouter {

  /*
   * A batch is placed in three steps.
   *
   * 1. Requests that name a rank with room go there, strict ones before all others. During cold
   *    start a request without a rank goes to the lowest live rank that has had no request yet.
   * 2. The rest is sorted by the first 64 tokens, longest first among equals, so that requests that
   *    share a prefix follow one another.
   * 3. Each goes to the eligible rank (a rank below the soft target) with the lowest
   *
   *      score(rank) = (length - match(rank)) + weight * (tokens(rank) / denominator * length)
   *
   *    where denominator = max(tokens of all eligible ranks, length, 1). Matches count only if the
   *    longest match among eligible ranks exceeds the threshold's share of the prompt. Ties go to
   *    the rank with fewer tokens, then to the rank that comes first when the eligible ranks are
   *    shuffled with the request's id as seed. Only such a tie pays for the shuffle.
   *
   * With firstTurnRoundRobin, the first turn of a conversation is not scored but goes to the next
   * eligible rank in round-robin order. Ranks that are skipped for a request are not eligible for it.
   *
   * Every process must compute bit-identical scores, so the order of the floating-point operations
   * must not change.
   */

  private static final int GROUPING_TOKENS = 64;
  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final KvCacheRoutingOptions options;
  private final boolean explain;
  private final BitSet warmupPending = new BitSet();

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final CPythonShuffle shuffle;
  private final int[] eligible;
  private int eligibleCount;
  private int firstTurnCursor;
  /* The eligible ranks that are not skipped for the request being placed. */
  private final int[] candidates;
  private int candidateCount;
  /* For the request being scored, by position in candidates. */
  private final int[] matchedTokens;
  private final double[] scores;
  private final int[] tied;

  /**
   * Creates a router that ignores occupancy and whose decisions carry no scores.
   *
   * @param ranks ranks of the worker
   * @param options weights and thresholds
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public KvCacheAwareAdpRouter(int ranks, KvCacheRoutingOptions options) {
    this(ranks, options, null, false);
  }

  /**
   * Creates a router.
   *
   * @param ranks ranks of the worker
   * @param options weights and thresholds
   * @param demand blocks that a request needs; null to ignore occupancy
   * @param explain whether decisions carry the compared scores
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public KvCacheAwareAdpRouter(
      int ranks, KvCacheRoutingOptions options, @Nullable BlockDemand demand, boolean explain) {
    this.batch = new PlacementBatch(AdpRouterKind.KV_CACHE_AWARE.id(), ranks, demand, false);
    this.ranks = batch.ranks();
    this.options = options;
    this.explain = explain;
    this.shuffle = new CPythonShuffle(ranks);
    this.eligible = new int[ranks];
    this.candidates = new int[ranks];
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
  public boolean readsOccupancy() {
    return batch.readsOccupancy();
  }

  @Override
  public LoadMetric loadMetric() {
    return options.accountForInTransfer()
        ? LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS
        : LoadMetric.UNCACHED_PROMPT_TOKENS;
  }

  @Override
  public long stateDigest() {
    long warmup = warmupPending.isEmpty() ? 0 : warmupPending.hashCode();
    return Digest64.fold(warmup, firstTurnCursor);
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
      int index = batch.deferred(placed);
      collectCandidates(index, expected);
      int rank =
          options.firstTurnRoundRobin() && batch.request(index).firstTurn()
              ? placeInTurn(index)
              : placeByScore(index);
      dropIfFull(rank, expected);
      placed++;
    }
    return batch.finish(placed, expected);
  }

  private void placeTargeted() {
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      AdpReason reason = AdpReason.EXPLICIT;
      if (target == Request.ANY_RANK) {
        target = ranks.firstLive(warmupPending); // -1, like ANY_RANK, if there is none
        reason = AdpReason.WARMUP;
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
    int byPrefix =
        Arrays.compareUnsigned(
            a.leadingTokens(GROUPING_TOKENS),
            0,
            Math.min(a.promptTokens(), GROUPING_TOKENS),
            b.leadingTokens(GROUPING_TOKENS),
            0,
            Math.min(b.promptTokens(), GROUPING_TOKENS));
    return byPrefix != 0 ? byPrefix : Integer.compare(b.promptTokens(), a.promptTokens());
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

  private void collectCandidates(int index, int expected) {
    batch.consider(index, expected);
    candidateCount = 0;
    for (int i = 0; i < eligibleCount; i++) {
      if (batch.acceptable(eligible[i], index)) {
        candidates[candidateCount++] = eligible[i];
      }
    }
  }

  private void dropIfFull(int rank, int expected) {
    if (ranks.activeRequests(rank) >= expected) {
      int position = IntArrays.binarySearch(eligible, 0, eligibleCount, rank);
      eligibleCount--;
      System.arraycopy(eligible, position + 1, eligible, position, eligibleCount - position);
    }
  }

  /** Places a first turn on the first candidate at or after the cursor; returns the rank. */
  private int placeInTurn(int index) {
    int position = 0;
    while (position < candidateCount && candidates[position] < firstTurnCursor) {
      position++;
    }
    int rank = candidates[position < candidateCount ? position : 0];
    firstTurnCursor = (rank + 1) % ranks.ranks();
    int matched = batch.matchedTokens(rank, index);
    batch.place(index, rank, AdpReason.FIRST_TURN, uncachedTokens(index, matched));
    return rank;
  }

  /** Places a request on the candidate with the lowest score; returns the rank. */
  private int placeByScore(int index) {
    int longestMatch = longestMatch(index);
    Request request = batch.request(index);
    boolean matchesCount =
        (double) longestMatch / Math.max(request.promptTokens(), 1) > options.matchRateThreshold();
    score(request.promptTokens(), matchesCount);
    int position = best(request.id());
    int rank = candidates[position];
    int matched = matchedTokens[position];
    Decision decision =
        new Decision(
            request,
            index,
            rank,
            matchesCount && matched > 0 ? AdpReason.AFFINITY : AdpReason.LOAD,
            matched,
            matchesCount,
            longestMatch,
            explain ? Arrays.copyOf(candidates, candidateCount) : NO_RANKS,
            explain ? Arrays.copyOf(scores, candidateCount) : NO_SCORES,
            ScoreTerms.NONE);
    batch.place(decision, uncachedTokens(index, matched));
    return rank;
  }

  private int longestMatch(int index) {
    int longest = 0;
    for (int i = 0; i < candidateCount; i++) {
      matchedTokens[i] = batch.matchedTokens(candidates[i], index);
      longest = Math.max(longest, matchedTokens[i]);
    }
    return longest;
  }

  private void score(int length, boolean matchesCount) {
    long load = 0;
    for (int i = 0; i < candidateCount; i++) {
      load += ranks.activeTokens(candidates[i]);
    }
    double denominator = Math.max(Math.max(load, length), 1);
    double weight = options.loadBalanceWeight();
    for (int i = 0; i < candidateCount; i++) {
      int uncached = matchesCount ? length - matchedTokens[i] : length;
      scores[i] = uncached + weight * (ranks.activeTokens(candidates[i]) / denominator * length);
    }
  }

  /** The position in {@link #candidates} of the rank with the best score. */
  private int best(long requestId) {
    int ties = 0;
    double bestScore = 0;
    long bestTokens = 0;
    for (int i = 0; i < candidateCount; i++) {
      double score = scores[i];
      long tokens = ranks.activeTokens(candidates[i]);
      if (ties == 0 || score < bestScore || (score == bestScore && tokens < bestTokens)) {
        bestScore = score;
        bestTokens = tokens;
        tied[0] = i;
        ties = 1;
      } else if (score == bestScore && tokens == bestTokens) {
        tied[ties++] = i;
      }
    }
    return ties == 1 ? tied[0] : shuffle.firstOf(tied, ties, requestId, candidateCount);
  }
}
