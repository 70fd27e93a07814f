package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import io.kvasir.timing.GroupTiming;
import io.kvasir.timing.StepTiming;
import it.unimi.dsi.fastutil.ints.IntComparators;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Minimises the projected time to first token, including the cost to other requests.
 *
 * <p>Requests that name a rank with room go there, strict ones first. The others are placed in
 * arrival order. A request is left over if no rank's pool can hold it now, or if the ranks that can
 * are far worse than one that cannot. Later requests may overtake it, but only for a bounded number
 * of calls.
 *
 * <p>Without {@link RankState#work()} the projection uses active tokens as queued prefill. Without
 * occupancy it ignores pool room and evictions.
 *
 * <p>Not thread-safe. Between calls it keeps samples of the pools' clocks, the number of calls that
 * left the head of the queue over, and the round-robin cursor of first turns.
 */
public final class ProjectedAdpRouter implements AdpRouter {

  /*
   * A request of L tokens goes to the rank with the lowest
   *
   *   score = queue + compute + pace + others + eviction + work   (modelled milliseconds)
   *
   *   reusable  leading tokens of the prompt in the rank's pool, or being computed there by earlier
   *             requests with the same prefix; at most L - 1
   *   queue     the rank's own time for the prefill queued on it
   *   compute   its own time for the L - reusable tokens, whose attention covers the reusable ones
   *   pace      half of the lock-step overhead until the first token. In step k every rank waits
   *             for the slowest, so the rank's steps for queue and compute take
   *                 sum over k of max(longest k-th step of all ranks, own step)
   *             where a rank's step is its share of the prefill plus its decoding requests. Half,
   *             because future arrivals are unknown: they fill the steps of the other ranks at no
   *             cost, and another rank may become the slowest.
   *   others    4 x compute: requests that arrive later wait for every millisecond computed here.
   *             This term keeps prefixes on their ranks under load. If the request begins a
   *             conversation, the part that the best rank need not compute is a shared prefix: a
   *             copy of it serves further turns and other conversations too, so that part is divided
   *             by their expected number before the rank evicts the copy.
   *   eviction  3/10 of the time to recompute the evicted blocks, scaled by age: 0 for the rank
   *             whose oldest evictable block is the oldest of all. The term decides between ranks
   *             of similar score and makes all pools together evict the oldest blocks first.
   *   work      1.25 x the work that the conversation will bring to the rank after this turn, times
   *             the number of open conversations by which the rank exceeds the emptiest one, relative
   *             to 1 + their mean. Ranks step together, so work that one of them has alone delays all.
   *
   * Expectations about conversations are learned from those before (Commitments).
   *
   * A prefix that all ranks match, such as a common system prompt, favours no rank. A placement
   * counts as affinity if its rank matches more of the prompt than another compared rank.
   *
   * With firstTurnRoundRobin, the first turn of a conversation goes to the next rank in round-robin
   * order instead.
   *
   * Equal scores go to the first rank at or after a position derived from the request's id.
   *
   * docs/policies.md (Limits) says on which requests the weights were tuned. Results are insensitive
   * to them over a wide range, with two exceptions. Without `others`, pools hold many copies of a
   * prefix. Without leaving requests over, a pool full of long answers blocks a rank's whole queue.
   */

  private static final Logger LOG = LoggerFactory.getLogger(ProjectedAdpRouter.class);

  private static final double NS_PER_MS = 1e6;

  private static final double PACE_WEIGHT = 0.5;
  private static final double OTHERS_WEIGHT = 4;
  private static final double WORK_WEIGHT = 1.25;
  private static final double EVICTION_WEIGHT = 0.3;

  /** Placements for which a pool with free blocks is taken to keep a block. */
  private static final double MOST_KEPT = 512;

  /**
   * A request waits for a full rank if every rank with room has more than this multiple of its
   * score.
   */
  private static final double WORTH_WAITING = 3;

  /**
   * Calls after which the head of the queue is placed even if it must wait for blocks on its rank.
   */
  private static final int MAX_CALLS_LEFT_OVER = 1000;

  /** Names of the terms of a score. */
  public static final List<String> TERMS =
      List.of("queue", "compute", "pace", "others", "eviction", "work");

  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final GroupTiming timing;
  private final ProjectedLoads loads;
  private final Commitments commitments;
  private final @Nullable BlockDemand demand;
  private final boolean explain;
  private final boolean firstTurnRoundRobin;
  private final int omitted;
  private int firstTurnCursor;

  /* The first request that the last call left over, and how many consecutive calls left it first. */
  private long headId;
  private int headCalls;

  private PrefixMatches matches = PrefixMatches.NONE;
  private boolean canWait;

  /* For the request being scored: figures by rank, and what the scores have in common. */
  private final int[] reusable;
  private final double[] computeMs;
  private double leastComputeMs;
  private double leastOpen;
  private double workMs;

  /* The compared ranks, their scores, and their terms row by row. */
  private final int[] compared;
  private final double[] scores;
  private final double[] terms;
  private int comparedCount;

  /**
   * Creates a router.
   *
   * @param ranks ranks of the worker
   * @param timing time model of a step, until steps were observed
   * @param maxNumTokens tokens that a rank computes in one step
   * @param demand blocks that a request needs; null to ignore occupancy
   * @param firstTurnRoundRobin whether first turns of conversations are placed round-robin
   * @param omittedTerm name of the term to leave out of the score; empty for none
   * @param explain whether decisions carry the compared scores and their terms
   * @throws IllegalArgumentException if {@code ranks} or {@code maxNumTokens} is below 1
   */
  public ProjectedAdpRouter(
      int ranks,
      StepTiming timing,
      int maxNumTokens,
      @Nullable BlockDemand demand,
      boolean firstTurnRoundRobin,
      String omittedTerm,
      boolean explain) {
    Checks.atLeast("maxNumTokens", maxNumTokens, 1);
    this.batch = new PlacementBatch(AdpRouterKind.PROJECTED.id(), ranks, demand);
    this.ranks = batch.ranks();
    this.timing = new GroupTiming(timing, ranks);
    this.loads = new ProjectedLoads(ranks, this.timing, maxNumTokens);
    this.commitments = new Commitments(ranks);
    this.reusable = new int[ranks];
    this.computeMs = new double[ranks];
    this.demand = demand;
    this.explain = explain;
    this.firstTurnRoundRobin = firstTurnRoundRobin;
    this.omitted = TERMS.indexOf(omittedTerm);
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
  public boolean readsConversations() {
    return true;
  }

  @Override
  public boolean learnsFromSteps() {
    return true;
  }

  @Override
  public void stepped(List<RankWork> work, long durationNs) {
    for (int rank = 0; rank < work.size(); rank++) {
      RankWork done = work.get(rank);
      timing.add(
          rank,
          done.prefillTokens(),
          done.attendedPairs(),
          done.decodingRequests(),
          done.decodeKvTokens());
    }
    int changed = timing.end(durationNs / NS_PER_MS);
    if (changed >= 0) {
      LOG.info("Rank {} has changed its step times", changed);
    }
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
    long expectations = Digest64.fold(commitments.digest(), timing.digest());
    return Digest64.fold(Digest64.fold(head, firstTurnCursor), expectations);
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
      consider(index);
      if (!shouldWait(index, leftOver == 0, maxActiveRequests)) {
        compare(index);
      } else {
        comparedCount = 0;
      }
      if (comparedCount > 0) {
        place(index);
      } else {
        batch.leaveOver(leftOver++, index);
      }
    }
    headCalls = leftOver == 0 ? 0 : headCalls;
    matches = PrefixMatches.NONE;
    return batch.finishWithLeftovers(leftOver, Math.max(expected, ranks.mostActiveRequests()));
  }

  /**
   * Whether to leave a request over: no rank's pool can hold it now, or every rank that can costs
   * more than {@link #WORTH_WAITING} times as much as one that cannot. Only the first request left
   * over has a limit on its calls; each of the others becomes the first eventually.
   */
  private boolean shouldWait(int index, boolean first, int maxActiveRequests) {
    if (!canWait || !loads.fitsSomePool(newBlocks(index, 0))) {
      return false;
    }
    if (batch.someRankCanHold(index, maxActiveRequests) && !worthWaiting(index)) {
      return false;
    }
    if (first) {
      long id = batch.request(index).id();
      headCalls = id == headId ? headCalls + 1 : 1;
      headId = id;
      return headCalls <= MAX_CALLS_LEFT_OVER;
    }
    return true;
  }

  /**
   * Whether every rank whose pool can hold a request is far worse than some rank whose pool cannot.
   */
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

  /** Computes what the scores of a request have in common. */
  private void consider(int index) {
    commitments.consider(conversation(index), batch.request(index).conversationId() != null);
    workMs = WORK_WEIGHT * commitments.furtherMs() / (1 + commitments.meanOpen());
    leastComputeMs = Double.POSITIVE_INFINITY;
    leastOpen = Double.POSITIVE_INFINITY;
    int length = batch.request(index).promptTokens();
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      reusable[rank] = reusable(rank, index);
      computeMs[rank] = loads.computeMs(rank, length - reusable[rank], reusable[rank]);
      leastComputeMs = Math.min(leastComputeMs, computeMs[rank]);
      leastOpen = Math.min(leastOpen, commitments.openBeside(rank));
    }
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

  /** A rank's score; its terms are written to {@link #terms} from {@code row} on. */
  private double score(int rank, int index, int row) {
    int uncached = batch.request(index).promptTokens() - reusable[rank];
    double queue = loads.queuedMs(rank);
    double compute = computeMs[rank];
    double copied = compute - leastComputeMs;
    if (commitments.begins()) {
      double kept = demand == null ? MOST_KEPT : Math.min(MOST_KEPT, loads.keptPlacements(rank));
      copied /= commitments.uses(kept);
    }
    terms[row] = queue;
    terms[row + 1] = compute;
    terms[row + 2] = PACE_WEIGHT * loads.stretchMs(rank, uncached, queue + compute);
    terms[row + 3] = OTHERS_WEIGHT * (leastComputeMs + copied);
    terms[row + 4] =
        demand == null
            ? 0
            : EVICTION_WEIGHT
                * loads.evictedMs(rank, newBlocks(index, reusable[rank]), demand.tokensPerBlock());
    terms[row + 5] = workMs * (commitments.openBeside(rank) - leastOpen);
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

  /** Charges a request to a rank; returns the tokens to compute. */
  private int charge(int index, int rank) {
    canWait = true; // this request will free room when it ends
    int reusable = reusable(rank, index);
    int uncached = batch.request(index).promptTokens() - reusable;
    commitments.placed(
        conversation(index), rank, loads.computeMs(rank, uncached, reusable) / timing.factor(rank));
    loads.add(rank, uncached, reusable, newBlocks(index, reusable));
    return uncached;
  }

  /** The key of a request's conversation. */
  private long conversation(int index) {
    String id = batch.request(index).conversationId();
    return id == null ? matches.conversation(index) : Commitments.key(id);
  }

  /** The position of the first compared rank at or after the cursor. */
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
