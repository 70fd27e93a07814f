package io.kvasir.route;

import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankState;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.ints.IntComparator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * One batch while it is placed: what each rank holds so far, who was placed, who is still deferred.
 * The part of the work that all routers share.
 *
 * <p>Requests are spoken of by their index in the batch. The deferred ones grow inside the array of
 * the visiting order, behind the place that is being read.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch; between batches nothing of a caller is
 * held.
 */
final class PlacementBatch {

  private static final Request[] NO_REQUESTS = {};
  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  private final RankLoads ranks;
  private int[] order = new int[16];
  private int[] sortSpace = new int[16];
  private int deferredCount;

  private Request[] requests = NO_REQUESTS;
  private PrefixMatches matches = PrefixMatches.NONE;
  private int maxActiveRequests;
  private List<Decision> decisions;

  PlacementBatch(int ranks) {
    this.ranks = new RankLoads(ranks);
  }

  /** Starts a batch. Everything is checked here, so that a bad batch changes no router. */
  void begin(
      List<RankState> states, List<Request> batch, PrefixMatches table, int maxActiveRequests) {
    Objects.requireNonNull(table, "matches");
    ranks.check(states);
    if (maxActiveRequests < 0) {
      throw new IllegalArgumentException(
          "maxActiveRequests must be at least 0, not " + maxActiveRequests);
    }
    Request[] checked = batch.toArray(NO_REQUESTS);
    checkTargets(checked);
    this.requests = checked;
    this.matches = table;
    this.maxActiveRequests = maxActiveRequests;
    this.decisions = new ArrayList<>(checked.length);
    this.deferredCount = 0;
    ranks.begin(states);
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

  private static boolean isStrict(Request request) {
    return request.targetRank() != Request.ANY_RANK && !request.relax();
  }

  /** The ranks and what they hold so far. */
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

  /** Whether a rank is live and below the hard cap. */
  boolean hasRoom(int rank) {
    return ranks.activeRequests(rank) < maxActiveRequests;
  }

  /** Matched tokens, within 0 and the prompt's length. */
  int matchedTokens(int rank, int index) {
    return Math.max(0, Math.min(matches.tokens(rank, index), requests[index].promptTokens()));
  }

  void place(int index, int rank, Reason reason, int chargedTokens) {
    place(index, rank, reason, chargedTokens, NO_RANKS, NO_SCORES);
  }

  void place(
      int index, int rank, Reason reason, int chargedTokens, int[] scoredRanks, double[] scores) {
    ranks.add(rank, chargedTokens);
    decisions.add(
        new Decision(
            requests[index], index, rank, reason, matchedTokens(rank, index), scoredRanks, scores));
  }

  /** Leaves a request for later; only for the one that {@link #strictFirst} gave last. */
  void defer(int index) {
    order[deferredCount++] = index;
  }

  int deferredCount() {
    return deferredCount;
  }

  int deferred(int position) {
    return order[position];
  }

  /** Sorts the deferred requests, stable, comparing indices. */
  void sortDeferred(IntComparator byIndex) {
    System.arraycopy(order, 0, sortSpace, 0, deferredCount);
    IntArrays.mergeSort(order, 0, deferredCount, byIndex, sortSpace);
  }

  /** Requests per rank up to which the deferred ones may fill it. */
  int softTarget(double multiplier) {
    return ranks.softTarget(deferredCount, multiplier, maxActiveRequests);
  }

  /** Ends the batch; the deferred requests from position {@code placed} on were not placed. */
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
    requests = NO_REQUESTS;
    matches = PrefixMatches.NONE;
    decisions = null;
    return assignment;
  }
}
