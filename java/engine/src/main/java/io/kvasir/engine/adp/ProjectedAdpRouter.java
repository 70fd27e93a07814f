package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.IntComparators;
import java.util.Arrays;
import java.util.List;

/**
 * Puts each request where the projected time to its first token and the delay that it causes to
 * others are least together.
 *
 * <p>Requests that name a rank with room go there, strict ones first. The others are placed in
 * order of arrival. One that no rank's pool can hold now, or only ranks that are far worse, is left
 * over while others are served, but not for ever.
 *
 * <p>Without {@link RankState#work()} the projection takes active tokens for the line; without
 * occupancy it knows neither room nor evictions.
 *
 * <p>Not thread-safe. Between calls it keeps how the ranks' pools age, and how long the head of the
 * queue has been left over.
 */
public final class ProjectedAdpRouter implements AdpRouter {

  /*
   * A request of L tokens goes to the rank of the lowest
   *
   *   score = queue + compute + pace + others + eviction          (modelled milliseconds)
   *
   *   held      tokens of the prompt in the rank's pool, or being computed there by requests with
   *             the same prefix that were placed before; at most L - 1
   *   queue     the rank's own time for the prefill that stands in its line
   *   compute   its own time for the L - held tokens; attention looks at the held ones too
   *   pace      half of what lock-step adds until the first token. In step k every rank waits for
   *             the slowest, so the rank's steps for queue and compute take
   *                 sum over k of max(longest k-th step of all ranks, own step)
   *             where a step of a rank is its share of the prefill and its decoding requests. Half,
   *             because the line of the rank that is slowest now may not stay it: what arrives
   *             later fills the other ranks' steps at no cost, and is not known yet.
   *   others    3 x compute: every millisecond that is computed anew is waited for by those who
   *             come next. This is what keeps prefixes where they are when ranks are loaded.
   *   eviction  3/10 of the time to compute again what has to leave the pool, by age: 0 for the
   *             rank whose oldest evictable block is the oldest of all. It decides between ranks
   *             that are otherwise about equal, and makes all pools together evict the oldest first.
   *
   * What all ranks hold alike, a common system prompt, gives no rank preference: a placement counts as
   * affinity if its rank holds more of the prompt than another that was compared.
   *
   * If asked for, the first turn of a conversation goes to the next rank in turn instead.
   *
   * Equal scores: the first rank from a place on that the request's id decides.
   *
   * The weights were found on the loaded comparison of docs/benchmarks.md. Of a wide range around
   * them the results hardly differ, except that without `others` pools hold many copies of a prefix,
   * and without leaving over, a pool that is full of long answers stops a rank's whole line.
   */

  private static final double PACE_WEIGHT = 0.5;
  private static final double OTHERS_WEIGHT = 3;
  private static final double EVICTION_WEIGHT = 0.3;

  /** How many times worse a rank with room must be for a request to wait for a full one. */
  private static final double WORTH_WAITING = 3;

  /** Calls after which the head of the queue is placed even where it must wait for blocks. */
  private static final int MOST_CALLS_LEFT_OVER = 1000;

  private static final List<String> TERMS =
      List.of("queue", "compute", "pace", "others", "eviction");
  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final ProjectedLoads loads;
  private final BlockDemand demand;
  private final boolean explain;
  private final boolean firstTurnRoundRobin;
  private int firstTurnCursor;

  /* Who was first of those left over by the last call, and how many calls in a row. */
  private long headId;
  private int headCalls;

  private PrefixMatches matches = PrefixMatches.NONE;
  private boolean canWait;

  /* Of the request being scored: the ranks compared, their scores and terms, row by row. */
  private final int[] compared;
  private final double[] scores;
  private final double[] terms;
  private int comparedCount;

  /**
   * Makes a router.
   *
   * @param ranks ranks of the worker
   * @param timing how long ranks compute
   * @param maxNumTokens tokens that a rank computes in one step
   * @param demand what requests need of a pool; null to ignore occupancy
   * @param explain whether decisions carry the scores that were compared, and their terms
   * @throws IllegalArgumentException if {@code ranks} or {@code maxNumTokens} is below 1
   */
  public ProjectedAdpRouter(
      int ranks, StepTiming timing, int maxNumTokens, BlockDemand demand, boolean explain) {
    this(ranks, timing, maxNumTokens, demand, false, explain);
  }

  /**
   * Makes a router.
   *
   * @param ranks ranks of the worker
   * @param timing how long ranks compute
   * @param maxNumTokens tokens that a rank computes in one step
   * @param demand what requests need of a pool; null to ignore occupancy
   * @param firstTurnRoundRobin whether the first turns of conversations are dealt out in turn
   * @param explain whether decisions carry the scores that were compared, and their terms
   * @throws IllegalArgumentException if {@code ranks} or {@code maxNumTokens} is below 1
   */
  public ProjectedAdpRouter(
      int ranks,
      StepTiming timing,
      int maxNumTokens,
      BlockDemand demand,
      boolean firstTurnRoundRobin,
      boolean explain) {
    if (maxNumTokens < 1) {
      throw new IllegalArgumentException("maxNumTokens must be at least 1, not " + maxNumTokens);
    }
    this.batch = new PlacementBatch(AdpRouterKind.PROJECTED.id(), ranks, demand);
    this.ranks = batch.ranks();
    this.loads = new ProjectedLoads(ranks, timing, maxNumTokens);
    this.demand = demand;
    this.explain = explain;
    this.firstTurnRoundRobin = firstTurnRoundRobin;
    this.compared = new int[ranks];
    this.scores = new double[ranks];
    this.terms = new double[ranks * TERMS.size()];
  }

  @Override
  public String name() {
    return AdpRouterKind.PROJECTED.id();
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
  public boolean readsWork() {
    return true;
  }

  @Override
  public int mostRequestsAfterLeftovers() {
    return Math.max(64, 4 * ranks.ranks());
  }

  @Override
  public LoadMetric loadMetric() {
    return LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS;
  }

  @Override
  public long stateDigest() {
    long head = Digest64.fold(Digest64.fold(loads.placed(), headId), headCalls);
    return Digest64.fold(head, firstTurnCursor);
  }

  @Override
  public Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches table, int maxActiveRequests) {
    batch.begin(states, requests, table, maxActiveRequests);
    loads.begin(states);
    matches = table;
    canWait = states.stream().anyMatch(state -> state.liveRequests() > 0);
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      if (target != Request.ANY_RANK && batch.hasRoom(target)) {
        batch.place(index, target, AdpReason.EXPLICIT, charge(index, target));
      } else {
        batch.defer(index);
      }
    }
    batch.sortDeferred(IntComparators.NATURAL_COMPARATOR);
    int expected = batch.softTarget(1.0);
    int leftOver = 0;
    for (int i = 0; i < batch.deferredCount(); i++) {
      int index = batch.deferred(i);
      if (!waits(index, leftOver == 0, maxActiveRequests)) {
        compare(index);
      } else {
        comparedCount = 0;
      }
      if (comparedCount > 0) {
        place(index);
      } else {
        batch.leave(leftOver++, index);
      }
    }
    headCalls = leftOver == 0 ? 0 : headCalls;
    matches = PrefixMatches.NONE;
    return batch.finishLeaving(leftOver, Math.max(expected, ranks.mostActiveRequests()));
  }

  /**
   * Whether a request had better wait, because every rank's pool is too full for it now, or all but
   * those that would cost {@link #WORTH_WAITING} times as much as one that is too full. Only the
   * first of those left over grows impatient: the others come first in their turn.
   */
  private boolean waits(int index, boolean first, int maxActiveRequests) {
    if (!canWait || !loads.fitsSomePool(newBlocks(index, 0))) {
      return false;
    }
    if (batch.canBeHeld(index, maxActiveRequests) && !worthWaiting(index)) {
      return false;
    }
    if (first) {
      long id = batch.request(index).id();
      headCalls = id == headId ? headCalls + 1 : 1;
      headId = id;
      return headCalls <= MOST_CALLS_LEFT_OVER;
    }
    return true;
  }

  /** Whether the ranks whose pools can hold a request are far worse than one that cannot now. */
  private boolean worthWaiting(int index) {
    double best = Double.POSITIVE_INFINITY;
    double bestNow = Double.POSITIVE_INFINITY;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      if (batch.hasRoom(rank)) {
        double score = score(rank, index, 0);
        best = Math.min(best, score);
        bestNow = batch.acceptable(rank, index) ? Math.min(bestNow, score) : bestNow;
      }
    }
    return bestNow > WORTH_WAITING * best;
  }

  /** Scores the ranks that have room for a request. */
  private void compare(int index) {
    batch.consider(index, batch.maxActiveRequests());
    comparedCount = 0;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      if (batch.hasRoom(rank) && batch.acceptable(rank, index)) {
        compared[comparedCount] = rank;
        scores[comparedCount] = score(rank, index, comparedCount * TERMS.size());
        comparedCount++;
      }
    }
  }

  /** A rank's score; its terms are left in their row. */
  private double score(int rank, int index, int row) {
    int held = held(rank, index);
    int uncached = batch.request(index).promptTokens() - held;
    double queue = loads.queuedMs(rank);
    double compute = loads.computeMs(uncached, held);
    terms[row] = queue;
    terms[row + 1] = compute;
    terms[row + 2] = PACE_WEIGHT * loads.stretchMs(rank, uncached, queue + compute);
    terms[row + 3] = OTHERS_WEIGHT * compute;
    terms[row + 4] =
        demand == null
            ? 0
            : EVICTION_WEIGHT
                * loads.evictedMs(rank, newBlocks(index, held), demand.tokensPerBlock());
    return terms[row] + terms[row + 1] + terms[row + 2] + terms[row + 3] + terms[row + 4];
  }

  private long newBlocks(int index, int held) {
    return demand == null
        ? 0
        : demand.blocks(batch.request(index)) - held / demand.tokensPerBlock();
  }

  /** Tokens that need not be computed; the last one always is. */
  private int held(int rank, int index) {
    int length = batch.request(index).promptTokens();
    return Math.max(0, Math.min(matches.pendingTokens(rank, index), length - 1));
  }

  private void place(int index) {
    boolean inTurn = firstTurnRoundRobin && batch.request(index).firstTurn();
    int rank = compared[inTurn ? nextInTurn() : best(batch.request(index).id())];
    int matched = batch.matchedTokens(rank, index);
    int longest = matched;
    int shortest = matched;
    for (int i = 0; i < comparedCount; i++) {
      int other = batch.matchedTokens(compared[i], index);
      longest = Math.max(longest, other);
      shortest = Math.min(shortest, other);
    }
    Decision decision =
        new Decision(
            batch.request(index),
            index,
            rank,
            inTurn
                ? AdpReason.FIRST_TURN
                : matched > shortest ? AdpReason.AFFINITY : AdpReason.LOAD,
            matched,
            !inTurn && longest > shortest,
            longest,
            explain ? Arrays.copyOf(compared, comparedCount) : NO_RANKS,
            explain ? Arrays.copyOf(scores, comparedCount) : NO_SCORES,
            explain
                ? new ScoreTerms(TERMS, Arrays.copyOf(terms, comparedCount * TERMS.size()))
                : ScoreTerms.NONE);
    batch.place(decision, charge(index, rank));
  }

  /** Books what a request adds to a rank; the tokens to compute. */
  private int charge(int index, int rank) {
    canWait = true; // for what runs from now on
    int held = held(rank, index);
    int uncached = batch.request(index).promptTokens() - held;
    loads.add(rank, uncached, held, newBlocks(index, held));
    return uncached;
  }

  /** The position of the first rank from the cursor on. */
  private int nextInTurn() {
    int position = 0;
    while (position < comparedCount && compared[position] < firstTurnCursor) {
      position++;
    }
    position = position < comparedCount ? position : 0;
    firstTurnCursor = (compared[position] + 1) % ranks.ranks();
    return position;
  }

  /** The position of the lowest score. */
  private int best(long requestId) {
    long start = Digest64.fold(Digest64.EMPTY, requestId) & Long.MAX_VALUE;
    int best = (int) (start % comparedCount);
    for (int i = 1; i < comparedCount; i++) {
      int position = (int) ((start + i) % comparedCount);
      if (scores[position] < scores[best]) {
        best = position;
      }
    }
    return best;
  }
}
