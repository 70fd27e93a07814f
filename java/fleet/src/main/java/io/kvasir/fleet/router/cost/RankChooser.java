package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the loads, lets the selector choose among the eligible ranks and books the choice. Guarded
 * by the scheduler's lock, which spans all three.
 */
final class RankChooser {

  private final ActiveSequences sequences;
  private final CandidateTable candidates;
  private final WorkerSelector selector;
  private final KvSchedulerOptions options;
  private BusyThresholds busyThresholds;

  RankChooser(
      ActiveSequences sequences,
      int tokensPerBlock,
      WorkerSelector selector,
      KvSchedulerOptions options) {
    this.sequences = sequences;
    this.candidates = new CandidateTable(tokensPerBlock);
    this.selector = selector;
    this.options = options;
    this.busyThresholds = options.busyThresholds();
  }

  void setBusyThresholds(BusyThresholds thresholds) {
    busyThresholds = thresholds;
  }

  void setRank(RankId rank, RankCapacity capacity) {
    sequences.addRank(rank);
    candidates.setCapacity(rank, capacity);
  }

  int removeRank(RankId rank) {
    candidates.remove(rank);
    return sequences.removeRank(rank);
  }

  /** Reads the loads without any request. O(ranks). */
  void readLoads() {
    sequences.loads(candidates.loads());
  }

  /** Whether any request at all has room, by the loads read last. O(ranks). */
  boolean anyRoom() {
    return hasRoom(RankFilter.ANY);
  }

  /** Whether requests with this filter have room, by the loads read last. O(ranks). */
  boolean hasRoom(RankFilter filter) {
    return candidates.narrow(filter, busyThresholds) == null && candidates.anyRoom(options.queue());
  }

  /** Whether some rank may serve, overloaded or not, by the loads read last. O(ranks). */
  Refusal unservable(RankFilter filter) {
    return candidates.narrow(filter, BusyThresholds.NONE);
  }

  /**
   * Reads the ranks that may serve a request now. O(blocks + ranks). Returns why there is none, or
   * null.
   */
  Refusal consider(SelectionRequest request, RankMatches matches) {
    checkBlocks(request);
    if (sequences.attemptOf(request.requestId()) != ActiveSequences.NONE) {
      return Refusal.DUPLICATE_REQUEST;
    }
    sequences.potential(
        request.sequenceHashes(), sharedBlocks(request), request.inputTokens(), candidates.loads());
    Refusal refusal = candidates.narrow(request.filter(), busyThresholds);
    candidates.setOverlaps(matches, tracksPrefill(request));
    return refusal;
  }

  private void checkBlocks(SelectionRequest request) {
    int most = request.inputTokens() / candidates.tokensPerBlock();
    if (request.blocks() > most) {
      throw new IllegalArgumentException(
          "blocks must be 0 to " + most + " for " + request + ", not " + request.blocks());
    }
  }

  /** Whether some rank that {@link #consider} found has room. O(candidates). */
  boolean anyConsideredHasRoom() {
    return candidates.anyRoom(options.queue());
  }

  /** Prompt tokens that none of the ranks holds that {@link #consider} found. O(candidates). */
  long uncachedTokens(SelectionRequest request) {
    return uncachedTokens(request, candidates.longestOverlap());
  }

  private int uncachedTokens(SelectionRequest request, int overlapBlocks) {
    return request.inputTokens() - overlapBlocks * candidates.tokensPerBlock();
  }

  /** Chooses among the ranks that {@link #consider} found, and books. O(blocks + candidates). */
  CostDecision book(SelectionRequest request, long waitedNs) {
    List<CandidateCost> costs = new ArrayList<>();
    int chosen = candidates.size() == 1 ? 0 : select(request, costs);
    RankId rank = candidates.rank(chosen);
    int overlapBlocks = candidates.overlapBlocks(chosen);
    long attempt =
        sequences.add(
            request.requestId(),
            rank,
            request.sequenceHashes(),
            sharedBlocks(request),
            request.inputTokens(),
            tracksPrefill(request) ? uncachedTokens(request, overlapBlocks) : 0);
    return new CostDecision(
        request, attempt, rank, why(request), overlapBlocks, candidates.size(), waitedNs, costs);
  }

  private int select(SelectionRequest request, List<CandidateCost> costs) {
    List<Map<String, Double>> terms = new ArrayList<>();
    CostTrace trace = CostTrace.NONE;
    if (options.explain()) {
      for (int i = 0; i < candidates.size(); i++) {
        terms.add(new LinkedHashMap<>());
      }
      trace = (candidate, name, value) -> terms.get(candidate).merge(name, value, Double::sum);
    }
    int chosen = selector.select(candidates, request, trace);
    if (chosen < 0 || chosen >= candidates.size()) {
      throw new IllegalStateException(
          "a selector must choose 0 to " + (candidates.size() - 1) + ", not " + chosen);
    }
    for (int i = 0; i < terms.size(); i++) {
      costs.add(
          new CandidateCost(
              candidates.rank(i),
              candidates.overlapBlocks(i),
              candidates.activePrefillTokens(i),
              candidates.activeBlocks(i),
              candidates.newBlocks(i),
              candidates.activeRequests(i),
              terms.get(i)));
    }
    return chosen;
  }

  private CostDecision.Why why(SelectionRequest request) {
    if (request.filter().isPinned()) {
      return CostDecision.Why.PINNED;
    }
    return candidates.size() == 1 ? CostDecision.Why.ONLY_CANDIDATE : CostDecision.Why.SELECTED;
  }

  private boolean tracksPrefill(SelectionRequest request) {
    return options.loads().trackPrefillTokens()
        && !Boolean.FALSE.equals(request.overrides().trackPrefillTokens());
  }

  /** Blocks of a request that other requests may share; the others are booked as its own. */
  private static int sharedBlocks(SelectionRequest request) {
    return Boolean.FALSE.equals(request.overrides().assumeKvReuse()) ? 0 : request.blocks();
  }
}
