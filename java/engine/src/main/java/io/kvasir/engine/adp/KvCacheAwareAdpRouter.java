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
   * 3. Each goes to the eligible rank (a rank below the soft target) with the lowest score, which
   *    KvCacheScores computes.
   *
   * With firstTurnRoundRobin, the first turn of a conversation is not scored but goes to the next
   * eligible rank in round-robin order. Ranks that are skipped for a request are not eligible for it.
   */

  private static final int GROUPING_TOKENS = 64;
  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final KvCacheRoutingOptions options;
  private final boolean explain;
  private final BitSet warmupPending = new BitSet();

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final KvCacheScores scores;
  private final int[] eligible;
  private int eligibleCount;
  private int firstTurnCursor;
  /* The eligible ranks that are not skipped for the request being placed. */
  private final int[] candidates;
  private int candidateCount;

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
    this.scores = new KvCacheScores(ranks, options);
    this.eligible = new int[ranks];
    this.candidates = new int[ranks];
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
    Request request = batch.request(index);
    scores.clear();
    for (int i = 0; i < candidateCount; i++) {
      int candidate = candidates[i];
      scores.add(ranks.activeTokens(candidate), batch.matchedTokens(candidate, index));
    }
    int position = scores.best(request.id(), request.promptTokens());
    int rank = candidates[position];
    int matched = scores.matchedTokens(position);
    Decision decision =
        new Decision(
            request,
            index,
            rank,
            scores.matchesCount() && matched > 0 ? AdpReason.AFFINITY : AdpReason.LOAD,
            matched,
            scores.matchesCount(),
            scores.longestMatch(),
            explain ? Arrays.copyOf(candidates, candidateCount) : NO_RANKS,
            explain ? scores.toArray() : NO_SCORES,
            ScoreTerms.NONE);
    batch.place(decision, uncachedTokens(index, matched));
    return rank;
  }
}
