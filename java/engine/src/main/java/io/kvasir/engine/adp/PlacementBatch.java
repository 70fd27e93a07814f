package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Checks;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.ints.IntComparator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of one batch during placement: the load of each rank so far, the decisions, and the
 * deferred requests. All routers share it.
 *
 * <p>Requests are identified by their index in the batch. The list of deferred requests shares the
 * array of the visiting order: it grows behind the position being read.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch. Between batches no reference to a
 * caller's object is kept.
 */
final class PlacementBatch {

  private static final Logger LOG = LoggerFactory.getLogger(AdpRouter.class);
  private static final Request[] NO_REQUESTS = {};

  private final String router;
  private final RankLoads ranks;
  private final BlockRoom blocks;
  private int[] order = new int[16];
  private int[] sortSpace = new int[16];
  private int deferredCount;
  private int deferredSequences;

  private final boolean strictWithoutRank;

  /** Whether ranks that cannot hold the request under consideration are skipped. */
  private boolean restricted;

  private Request[] requests = NO_REQUESTS;
  private PrefixMatches matches = PrefixMatches.NONE;
  private int maxActiveRequests;
  private List<Decision> decisions = List.of();

  /**
   * Creates the working state of a router.
   *
   * @param demand blocks that a request needs, or null to ignore occupancy
   * @param strictWithoutRank whether a request that is not to be relaxed counts as strict although
   *     it names no rank
   */
  PlacementBatch(
      String router, int ranks, @Nullable BlockDemand demand, boolean strictWithoutRank) {
    this.router = router;
    this.strictWithoutRank = strictWithoutRank;
    this.ranks = new RankLoads(ranks);
    this.blocks = new BlockRoom(ranks, demand);
  }

  boolean readsOccupancy() {
    return blocks.readsOccupancy();
  }

  /**
   * Starts a batch. All input is validated here, so an invalid batch leaves the router's state
   * unchanged.
   */
  void begin(
      List<RankState> states, List<Request> batch, PrefixMatches table, int maxActiveRequests) {
    Objects.requireNonNull(table, "matches");
    ranks.check(states);
    Checks.atLeast("maxActiveRequests", maxActiveRequests, 0);
    Request[] checked = batch.toArray(NO_REQUESTS);
    checkTargets(checked);
    this.requests = checked;
    this.matches = table;
    this.maxActiveRequests = maxActiveRequests;
    this.decisions = new ArrayList<>(checked.length);
    this.deferredCount = 0;
    this.deferredSequences = 0;
    ranks.begin(states);
    blocks.begin(states);
    orderStrictFirst();
  }

  private void checkTargets(Request[] batch) {
    for (Request request : batch) {
      if (request.targetRank() >= ranks.ranks()) {
        throw new IllegalArgumentException(
            "request "
                + request.id()
                + ": targetRank must be within 0 to "
                + (ranks.ranks() - 1)
                + ", not "
                + request.targetRank());
      }
    }
  }

  private void orderStrictFirst() {
    if (order.length < requests.length) {
      order = new int[Math.max(requests.length, 2 * order.length)];
      sortSpace = new int[order.length];
    }
    int next = 0;
    for (int index = 0; index < requests.length; index++) {
      if (isStrict(requests[index])) {
        order[next++] = index;
      }
    }
    for (int index = 0; index < requests.length; index++) {
      if (!isStrict(requests[index])) {
        order[next++] = index;
      }
    }
  }

  private boolean isStrict(Request request) {
    return !request.relax() && (strictWithoutRank || request.targetRank() != Request.ANY_RANK);
  }

  /** The ranks' loads, including the requests placed so far. */
  RankLoads ranks() {
    return ranks;
  }

  int size() {
    return requests.length;
  }

  /** The request to visit at a position: strict ones first, else in arrival order. */
  int strictFirst(int position) {
    return order[position];
  }

  Request request(int index) {
    return requests[index];
  }

  int maxActiveRequests() {
    return maxActiveRequests;
  }

  /** Whether a rank is live and below the hard cap. */
  boolean hasRoom(int rank) {
    return ranks.activeRequests(rank) < maxActiveRequests;
  }

  /**
   * The weight of a request. Upstream counts each request as one; where occupancy is known,
   * children count too.
   */
  private int sequences(int index) {
    return blocks.known() ? requests[index].sequences() : 1;
  }

  /**
   * Selects the request for {@link #acceptable}. Ranks that cannot hold it are skipped if some rank
   * below {@code expected} requests can.
   */
  void consider(int index, int expected) {
    restricted = false;
    for (int i = 0; blocks.known() && !restricted && i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      restricted = ranks.activeRequests(rank) < expected && canHold(rank, index);
    }
  }

  /** Whether some ranks are skipped for the request given to {@link #consider}. */
  boolean restricted() {
    return restricted;
  }

  /** Whether a rank is not skipped for the request given to {@link #consider}. */
  boolean acceptable(int rank, int index) {
    return !restricted || canHold(rank, index);
  }

  /**
   * The part of the mean time from a placement to its end after which a rank is expected to have
   * room for a request; 0 if it has room now. A request frees its blocks when it ends, so it takes
   * at least until the next end.
   *
   * @param sharedTokens leading tokens of the prompt that several ranks match
   */
  double partUntilRoom(int rank, int index, int sharedTokens) {
    if (!blocks.known()) {
      return 0;
    }
    int active = ranks.activeRequests(rank);
    if (active > maxActiveRequests - requests[index].sequences()) {
      return Double.POSITIVE_INFINITY;
    }
    double lacking =
        blocks.lackingPart(rank, requests[index], matchedTokens(rank, index), sharedTokens);
    return lacking == 0 ? 0 : Math.max(lacking, 1.0 / (1 + active));
  }

  private boolean canHold(int rank, int index) {
    return ranks.activeRequests(rank) <= maxActiveRequests - requests[index].sequences()
        && blocks.canHold(rank, requests[index], matchedTokens(rank, index));
  }

  /** Matched tokens, clamped to the prompt's length. */
  int matchedTokens(int rank, int index) {
    return clamped(matches.tokens(rank, index), requests[index].promptTokens());
  }

  /** A match, which is advisory, as a part of a prompt. */
  static int clamped(int matched, int promptTokens) {
    return Math.max(0, Math.min(matched, promptTokens));
  }

  /** The most tokens that a live rank holds of a request, clamped to the prompt's length. */
  int longestMatch(int index) {
    int longest = 0;
    for (int i = 0; i < ranks.liveCount(); i++) {
      longest = Math.max(longest, matchedTokens(ranks.live(i), index));
    }
    return longest;
  }

  void place(int index, int rank, AdpReason reason, int chargedTokens) {
    Request request = requests[index];
    place(new Decision(request, index, rank, reason, matchedTokens(rank, index)), chargedTokens);
  }

  void place(Decision decision, int chargedTokens) {
    int rank = decision.rank();
    ranks.add(rank, sequences(decision.requestIndex()), chargedTokens);
    blocks.take(rank, decision.request(), decision.matchedTokens());
    decisions.add(decision);
  }

  /** Defers a request, which must be the one that {@link #strictFirst} returned last. */
  void defer(int index) {
    order[deferredCount++] = index;
    deferredSequences += sequences(index);
  }

  int deferredCount() {
    return deferredCount;
  }

  int deferred(int position) {
    return order[position];
  }

  /** Sorts the deferred requests by a comparator of indices; the sort is stable. */
  void sortDeferred(IntComparator byIndex) {
    System.arraycopy(order, 0, sortSpace, 0, deferredCount);
    IntArrays.mergeSort(order, 0, deferredCount, byIndex, sortSpace);
  }

  /** Number of requests up to which deferred requests may fill a rank. */
  int softTarget(double multiplier) {
    return ranks.softTarget(deferredSequences, multiplier, maxActiveRequests);
  }

  /**
   * Leaves a deferred request unplaced. Its position must have been read already.
   *
   * @param leftOver number of requests left over before
   */
  void leaveOver(int leftOver, int index) {
    order[leftOver] = index;
  }

  /** Ends the batch after {@code leftOver} calls of {@link #leaveOver}. */
  Assignment finishWithLeftovers(int leftOver, int expectedActiveRequests) {
    deferredCount = leftOver;
    return finish(0, expectedActiveRequests);
  }

  /** Ends the batch; deferred requests from position {@code placed} on are left over. */
  Assignment finish(int placed, int expectedActiveRequests) {
    List<Request> unassigned = List.of();
    if (placed < deferredCount) {
      Arrays.sort(order, placed, deferredCount);
      unassigned = new ArrayList<>(deferredCount - placed);
      for (int i = placed; i < deferredCount; i++) {
        unassigned.add(requests[order[i]]);
      }
    }
    Assignment assignment =
        new Assignment(
            ranks.ranks(),
            Collections.unmodifiableList(decisions),
            Collections.unmodifiableList(unassigned),
            expectedActiveRequests,
            ranks.takeActiveTokens());
    if (LOG.isDebugEnabled()) {
      LOG.debug("{}: {}", router, summary(assignment));
    }
    requests = NO_REQUESTS;
    matches = PrefixMatches.NONE;
    decisions = List.of();
    return assignment;
  }

  private static String summary(Assignment assignment) {
    Map<AdpReason, Integer> reasons = new EnumMap<>(AdpReason.class);
    int[] placed = new int[assignment.ranks()];
    for (Decision decision : assignment.decisions()) {
      reasons.merge(decision.reason(), 1, Integer::sum);
      placed[decision.rank()]++;
    }
    return "placed "
        + assignment.decisions().size()
        + " "
        + reasons
        + ", by rank "
        + Arrays.toString(placed)
        + ", left over "
        + assignment.unassigned().size()
        + ", expected "
        + assignment.expectedActiveRequests();
  }
}
