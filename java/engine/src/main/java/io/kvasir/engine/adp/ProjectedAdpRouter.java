package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
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
 * arrival order. A request is left over if no rank's pool is expected to hold it now, or if its
 * first token is expected earlier from a rank that will have room soon. Later requests may overtake
 * it, but only for a bounded time.
 *
 * <p>Without {@link RankState#work()} the projection uses active tokens as queued prefill. Without
 * occupancy it ignores pool room and evictions.
 *
 * <p>Not thread-safe. Between calls it keeps what its score has learned, how long requests were
 * left over, and the round-robin cursor of first turns.
 */
public final class ProjectedAdpRouter implements AdpRouter {

  /*
   * A request goes to the rank with the lowest ProjectedScore. Equal scores go to the first rank at
   * or after a position derived from the request's id. With firstTurnRoundRobin, the first turn of a
   * conversation goes to the next rank in round-robin order instead.
   *
   * A placement counts as affinity if its rank matches more of the prompt than another compared rank.
   *
   * Without leaving requests over, a pool full of long answers blocks a rank's whole queue. With
   * room somewhere, a request is left over while the time that it has waited, the expected time
   * until a full rank has room, and that from there to the first token are together less than the
   * time to the first token from the best rank with room. So no wait costs more than it may save.
   */

  private static final Logger LOG = LoggerFactory.getLogger(ProjectedAdpRouter.class);

  private static final double NS_PER_MS = 1e6;

  /* Largest batch after one with leftovers, and that for each rank if it is more. */
  private static final int LEAST_BATCH = 64;
  private static final int REQUESTS_PER_RANK = 4;

  /** Names of the terms of a score. */
  public static final List<String> TERMS = ProjectedScore.TERMS;

  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final ProjectedScore score;
  private final boolean explain;
  private final boolean firstTurnRoundRobin;
  private final Leftovers leftovers = new Leftovers();
  private int firstTurnCursor;
  private boolean canWait;

  private long changes;

  /* The compared ranks, times until they have room, their scores, and their terms row by row. */
  private final int[] compared;
  private final double[] untilRoomMs;
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
    this.batch = new PlacementBatch(AdpRouterKind.PROJECTED.id(), ranks, demand, false);
    this.ranks = batch.ranks();
    this.score = new ProjectedScore(batch, timing, maxNumTokens, demand, omittedTerm);
    this.explain = explain;
    this.firstTurnRoundRobin = firstTurnRoundRobin;
    this.compared = new int[ranks];
    this.untilRoomMs = new double[ranks];
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
    double ms = durationNs / NS_PER_MS;
    leftovers.stepped(ms);
    int changed = score.stepped(work, ms);
    if (changed >= 0) {
      noteChange(changed);
    }
  }

  /** At powers of two, so that the log does not grow with ranks whose times are never steady. */
  private void noteChange(int rank) {
    changes++;
    if (Long.bitCount(changes) == 1) {
      LOG.info("Rank {} has changed its step times ({} changes of all ranks)", rank, changes);
    }
  }

  @Override
  public int mostRequestsAfterLeftovers() {
    return Math.max(LEAST_BATCH, REQUESTS_PER_RANK * ranks.ranks());
  }

  @Override
  public LoadMetric loadMetric() {
    return LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS;
  }

  @Override
  public long stateDigest() {
    long digest = Digest64.fold(Digest64.fold(score.placed(), leftovers.digest()), firstTurnCursor);
    return Digest64.fold(digest, score.learnedDigest());
  }

  @Override
  public Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches table, int maxActiveRequests) {
    batch.begin(states, requests, table, maxActiveRequests);
    score.begin(states, table);
    leftovers.begin(ranks.allActiveRequests());
    canWait = states.stream().anyMatch(state -> state.liveRequests() > 0);
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      if (target != Request.ANY_RANK && batch.hasRoom(target)) {
        batch.place(index, target, AdpReason.EXPLICIT, charge(index, target));
        leftovers.placed(batch.request(index).id());
      } else {
        batch.defer(index);
      }
    }
    batch.sortDeferred(IntComparators.NATURAL_COMPARATOR);
    int expected = batch.softTarget(1.0);
    int leftOver = 0;
    for (int i = 0; i < batch.deferredCount(); i++) {
      int index = batch.deferred(i);
      score.consider(index);
      compare(index);
      if (comparedCount == 0 || isLeftOver(index, leftOver == 0)) {
        batch.leaveOver(leftOver++, index);
      } else {
        place(index);
      }
    }
    leftovers.end(ranks.allActiveRequests(), leftOver);
    score.end();
    return batch.finishWithLeftovers(leftOver, Math.max(expected, ranks.mostActiveRequests()));
  }

  /** Scores the ranks below the cap for a request. */
  private void compare(int index) {
    comparedCount = 0;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      if (batch.hasRoom(rank)) {
        compared[comparedCount] = rank;
        untilRoomMs[comparedCount] =
            leftovers.untilRoomMs(batch.partUntilRoom(rank, index, score.sharedTokens()));
        scores[comparedCount] = score.on(rank, index, terms, comparedCount * TERMS.size());
        comparedCount++;
      }
    }
  }

  /**
   * Whether a request is left over. If not, the ranks without room are no longer compared, unless
   * all are without.
   */
  private boolean isLeftOver(int index, boolean first) {
    int now = -1;
    for (int i = 0; i < comparedCount; i++) {
      if (untilRoomMs[i] == 0 && (now < 0 || scores[i] < scores[now])) {
        now = i;
      }
    }
    long id = batch.request(index).id();
    boolean left =
        canWait
            && score.fitsSomePool(index)
            && (now < 0 || isSoonerLater(id, now))
            && leftovers.leave(id, first);
    if (!left && now >= 0) {
      keepThoseWithRoom();
    }
    return left;
  }

  /**
   * Whether a request's first token is expected earlier if it waits for a full rank than on the
   * best rank with room, the time that it has waited included.
   *
   * @param now position of the best rank with room
   */
  private boolean isSoonerLater(long id, int now) {
    double waitedMs = leftovers.waitedMs(id);
    double nowMs = ProjectedScore.firstTokenMs(terms, now * TERMS.size());
    for (int i = 0; i < comparedCount; i++) {
      double waitMs = untilRoomMs[i];
      if (waitMs > 0
          && scores[i] + waitMs < scores[now]
          && waitedMs + waitMs + ProjectedScore.firstTokenMs(terms, i * TERMS.size()) < nowMs) {
        return true;
      }
    }
    return false;
  }

  private void keepThoseWithRoom() {
    int kept = 0;
    for (int i = 0; i < comparedCount; i++) {
      if (untilRoomMs[i] == 0) {
        compared[kept] = compared[i];
        scores[kept] = scores[i];
        System.arraycopy(terms, i * TERMS.size(), terms, kept * TERMS.size(), TERMS.size());
        kept++;
      }
    }
    comparedCount = kept;
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
    leftovers.placed(batch.request(index).id());
  }

  /** Charges a request to a rank; returns the tokens to compute. */
  private int charge(int index, int rank) {
    canWait = true; // this request will free room when it ends
    return score.charge(index, rank);
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
