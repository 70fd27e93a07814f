package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Digest64;
import io.kvasir.timing.ExpectedTurns;
import io.kvasir.timing.GroupTiming;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The score of a request on each rank for {@link ProjectedAdpRouter}: the modelled time to its
 * first token, and what it costs other requests. Lower is better.
 *
 * <p>Not thread-safe. Between calls it keeps samples of the pools' clocks, and what it has learned
 * of steps and conversations.
 */
final class ProjectedScore {

  /*
   * A request of L tokens goes to the rank with the lowest
   *
   *   score = queue + compute + lockstep + others + eviction + work   (modelled milliseconds)
   *
   *   reusable  leading tokens of the prompt in the rank's pool, or being computed there by earlier
   *             requests with the same prefix; at most L - 1
   *   queue     the rank's own time for the prefill queued on it
   *   compute   its own time for the L - reusable tokens, whose attention covers the reusable ones.
   *             If the request begins a conversation, the part that the best rank need not compute
   *             is a shared prefix: a copy of it serves further turns and other conversations too,
   *             so that part is divided by their expected number before the rank evicts the copy.
   *   lockstep  half of the lock-step overhead until the first token. In step k every rank waits
   *             for the slowest, so the rank's steps for queue and compute take
   *                 sum over k of max(longest k-th step of all ranks, own step)
   *             where a rank's step is its share of the prefill plus its decoding requests. Half,
   *             because future arrivals are unknown: they fill the steps of the other ranks at no
   *             cost, and another rank may become the slowest.
   *   others    4 x what compute takes from requests that arrive later: all of it where it
   *             lengthens the longest queue, else the share of ranks' time that has prefill until
   *             that queue is done. This term keeps prefixes on their ranks under load.
   *   eviction  3/10 of the time to recompute the evicted blocks, scaled by age: 0 for the rank
   *             whose oldest evictable block is the oldest of all. The term decides between ranks
   *             of similar score and makes all pools together evict the oldest blocks first.
   *   work      1.25 x the work that the conversation will bring to the rank after this turn, times
   *             the number of open conversations by which the rank exceeds the emptiest one, relative
   *             to 1 + their mean. Ranks step together, so work that one of them has alone delays all.
   *
   * Expectations about conversations are learned from those before (RankConversations).
   *
   * docs/policies.md (Limits) says on which requests the weights were tuned. Results are insensitive
   * to them over a wide range, but without `others`, pools hold many copies of a prefix.
   */

  /** Names of the terms. */
  static final List<String> TERMS =
      List.of("queue", "compute", "lockstep", "others", "eviction", "work");

  private static final double LOCKSTEP_WEIGHT = 0.5;
  private static final double OTHERS_WEIGHT = 4;
  private static final double WORK_WEIGHT = 1.25;
  private static final double EVICTION_WEIGHT = 0.3;

  /** Placements for which a pool with free blocks is taken to keep a block. */
  private static final double MOST_KEPT = 512;

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final GroupTiming timing;
  private final ProjectedLoads loads;
  private final RankConversations conversations;
  private final @Nullable BlockDemand demand;
  private final int omitted;

  private PrefixMatches matches = PrefixMatches.NONE;

  /* For the request being scored: figures by rank, and what the scores have in common. */
  private final int[] reusable;
  private final double[] computeMs;
  private double leastComputeMs;
  private double leastOpen;
  private double workMs;
  private int sharedTokens;

  /**
   * Begins without loads.
   *
   * @param batch the requests to place
   * @param timing time model of a step, until steps were observed
   * @param maxNumTokens tokens that a rank computes in one step, at least 1
   * @param demand blocks that a request needs; null to ignore occupancy
   * @param omittedTerm name of the term to leave out; empty for none
   */
  ProjectedScore(
      PlacementBatch batch,
      StepTiming timing,
      int maxNumTokens,
      @Nullable BlockDemand demand,
      String omittedTerm) {
    this.batch = batch;
    this.ranks = batch.ranks();
    this.timing = new GroupTiming(timing, ranks.ranks());
    this.loads = new ProjectedLoads(ranks.ranks(), this.timing, maxNumTokens);
    this.conversations = new RankConversations(ranks.ranks());
    this.demand = demand;
    this.omitted = TERMS.indexOf(omittedTerm);
    this.reusable = new int[ranks.ranks()];
    this.computeMs = new double[ranks.ranks()];
  }

  /** Begins a batch. */
  void begin(List<RankState> states, PrefixMatches table) {
    loads.begin(states);
    matches = table;
  }

  /** Ends the batch. */
  void end() {
    matches = PrefixMatches.NONE;
  }

  /**
   * Learns from a step.
   *
   * @param work what each rank did
   * @param ms its duration, in milliseconds
   * @return the rank whose speed has changed for good; negative for none
   */
  int stepped(List<RankWork> work, double ms) {
    for (int rank = 0; rank < work.size(); rank++) {
      RankWork done = work.get(rank);
      timing.add(
          rank,
          done.prefillTokens(),
          done.attendedPairs(),
          done.decodingRequests(),
          done.decodeKvTokens());
    }
    return timing.end(ms);
  }

  /** Requests placed so far. */
  long placed() {
    return loads.placed();
  }

  /** Digest of what was learned. */
  long learnedDigest() {
    return Digest64.fold(conversations.digest(), timing.digest());
  }

  /** Whether some pool is large enough for a request. */
  boolean fitsSomePool(int index) {
    return loads.fitsSomePool(newBlocks(index, 0));
  }

  /** Computes what the scores of a request have in common. */
  void consider(int index) {
    conversations.consider(conversation(index), batch.request(index).conversationId() != null);
    workMs = WORK_WEIGHT * conversations.furtherMs() / (1 + conversations.meanOpen());
    leastComputeMs = Double.POSITIVE_INFINITY;
    leastOpen = Double.POSITIVE_INFINITY;
    int length = batch.request(index).promptTokens();
    int longestMatch = 0;
    sharedTokens = 0;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      int matched = batch.matchedTokens(rank, index);
      sharedTokens = Math.max(sharedTokens, Math.min(longestMatch, matched));
      longestMatch = Math.max(longestMatch, matched);
      reusable[rank] = reusable(rank, index);
      computeMs[rank] = loads.computeMs(rank, length - reusable[rank], reusable[rank]);
      leastComputeMs = Math.min(leastComputeMs, computeMs[rank]);
      leastOpen = Math.min(leastOpen, conversations.openBeside(rank));
    }
  }

  /** Leading tokens of the considered request that at least two ranks match. */
  int sharedTokens() {
    return sharedTokens;
  }

  /** The expected time to the first token, from the terms in a row. */
  static double firstTokenMs(double[] terms, int row) {
    return terms[row] + terms[row + 1] + terms[row + 2];
  }

  /**
   * The score of a request, which was considered last, on a rank.
   *
   * @param terms its terms are written here
   * @param row index of the first one
   */
  double on(int rank, int index, double[] terms, int row) {
    int uncached = batch.request(index).promptTokens() - reusable[rank];
    double queue = loads.queuedMs(rank);
    double compute = computeMs[rank];
    double copied = compute - leastComputeMs;
    if (conversations.begins()) {
      double kept = demand == null ? MOST_KEPT : Math.min(MOST_KEPT, loads.keptPlacements(rank));
      copied /= conversations.uses(kept);
    }
    double charged = leastComputeMs + copied;
    terms[row] = queue;
    terms[row + 1] = charged;
    terms[row + 2] = LOCKSTEP_WEIGHT * loads.stretchMs(rank, uncached, queue + compute);
    terms[row + 3] = OTHERS_WEIGHT * loads.takenMs(rank, charged);
    terms[row + 4] =
        demand == null
            ? 0
            : EVICTION_WEIGHT
                * loads.evictedMs(rank, newBlocks(index, reusable[rank]), demand.tokensPerBlock());
    terms[row + 5] = workMs * (conversations.openBeside(rank) - leastOpen);
    if (omitted >= 0) {
      terms[row + omitted] = 0;
    }
    double score = 0;
    for (int term = 0; term < TERMS.size(); term++) {
      score += terms[row + term];
    }
    return score;
  }

  private long newBlocks(int index, int reusable) {
    return demand == null
        ? 0
        : demand.blocks(batch.request(index)) - reusable / demand.tokensPerBlock();
  }

  /** Leading tokens that need not be computed; the last token of the prompt always is. */
  private int reusable(int rank, int index) {
    int length = batch.request(index).promptTokens();
    return Math.max(0, Math.min(matches.pendingTokens(rank, index), length - 1));
  }

  /** Charges a request to a rank; returns the tokens to compute. */
  int charge(int index, int rank) {
    int reusable = reusable(rank, index);
    int uncached = batch.request(index).promptTokens() - reusable;
    conversations.placed(
        conversation(index), rank, loads.computeMs(rank, uncached, reusable) / timing.factor(rank));
    loads.add(rank, uncached, reusable, newBlocks(index, reusable));
    return uncached;
  }

  /** The key of a request's conversation. */
  private long conversation(int index) {
    String id = batch.request(index).conversationId();
    return id == null ? matches.conversation(index) : ExpectedTurns.key(id);
  }
}
