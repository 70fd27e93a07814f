package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.SequenceLoad;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the loads, lets the selector choose among the eligible ranks and books the choice. Guarded
 * by the router's lock, which spans all three.
 */
final class RankChooser {

  /** Of a request that has one candidate. */
  private static final Selection ONLY = Selection.of(0);

  /** Likelihood of meeting its targets below which a request may be refused. */
  private static final double HOPELESS = 0.05;

  private final ActiveSequences sequences;
  private final CandidateTable candidates;
  private final HitCorrections corrections;
  private final RankSelector selector;
  private final PlacementListener listener;
  private final LoadAnnouncer announcer;
  private final LongSupplier clockNs;
  private final BookingOptions options;
  private BusyThresholds busyThresholds;

  RankChooser(
      ActiveSequences sequences,
      int tokensPerBlock,
      RankSelector selector,
      PlacementListener listener,
      LoadAnnouncer announcer,
      LongSupplier clockNs,
      BookingOptions options) {
    this.sequences = sequences;
    this.candidates = new CandidateTable(tokensPerBlock);
    this.corrections = new HitCorrections(tokensPerBlock);
    this.selector = selector;
    this.listener = listener;
    this.announcer = announcer;
    this.clockNs = clockNs;
    this.options = options;
    this.busyThresholds = options.busyThresholds();
  }

  void setBusyThresholds(BusyThresholds thresholds) {
    busyThresholds = thresholds;
    candidates.ranks().forEach(sequences::ease);
  }

  /** Returns false if the rank was known. */
  boolean addRank(RankId rank, RankCapacity capacity) {
    candidates.set(rank, capacity, corrections.of(rank.workerId()));
    boolean added = sequences.addRank(rank);
    sequences.ease(rank);
    return added;
  }

  /** Returns false if the rank is unknown. */
  boolean removeRank(RankId rank) {
    sequences.removeRank(rank);
    corrections.forget(rank.workerId());
    candidates.correct(rank.workerId(), HitCorrection.NONE);
    return candidates.remove(rank);
  }

  boolean knows(RankId rank) {
    return candidates.knows(rank);
  }

  /** Reads the loads without any request. O(ranks). */
  void readLoads() {
    sequences.loads(candidates.loads());
  }

  /**
   * The ranks that have room for a request that may wait, and may not have had it when this was
   * asked last. O(ranks whose load has fallen since).
   */
  List<RankId> easedWithRoom() {
    sequences.expireIfDue();
    return sequences.retainEased(this::hasRoom);
  }

  /** No request that waits can be placed on the ranks whose load has fallen so far. */
  void forgetEased() {
    List<RankId> unused = sequences.retainEased((rank, tokens, blocks) -> false);
  }

  private boolean hasRoom(RankId rank, long activePrefillTokens, long activeBlocks) {
    RankCapacity capacity = candidates.capacity(rank);
    return options.queue().hasRoom(activePrefillTokens, capacity)
        && !busyThresholds.exceededBy(activePrefillTokens, activeBlocks, capacity);
  }

  /** Ranks that are not overloaded now. O(ranks). */
  int countRanks() {
    readLoads();
    Refusal unused = candidates.narrow(RankFilter.ANY, busyThresholds);
    return candidates.size();
  }

  /** Whether some rank may serve, overloaded or not, by the loads read last. O(ranks). */
  @Nullable Refusal unservable(RankFilter filter) {
    return candidates.narrow(filter, BusyThresholds.NONE);
  }

  /**
   * Reads the ranks that may serve a request now. O(blocks + ranks). Returns why there is none, or
   * null.
   */
  @Nullable Refusal consider(MatchedRequest matched) {
    FleetRequest request = matched.request();
    checkBlocks(matched);
    if (sequences.attemptOf(request.id()) != ActiveSequences.NONE) {
      return Refusal.DUPLICATE_REQUEST;
    }
    sequences.potential(
        matched.hashes().sequence(),
        sharedBlocks(matched),
        request.inputTokens(),
        candidates.loads());
    Refusal refusal = candidates.narrow(request.filter(), busyThresholds);
    candidates.setMatches(matched.matches(), request.inputTokens(), tracksPrefill(request));
    return refusal;
  }

  private void checkBlocks(MatchedRequest matched) {
    int most = matched.request().inputTokens() / candidates.tokensPerBlock();
    int blocks = matched.blocks();
    if (blocks > most) {
      throw new IllegalArgumentException(
          "blocks must be 0 to " + most + " for " + matched.request() + ", not " + blocks);
    }
  }

  /** Whether some rank that {@link #consider} found has room. O(candidates). */
  boolean anyConsideredHasRoom() {
    return candidates.anyRoom(options.queue());
  }

  /** Prompt tokens that no rank found by {@link #consider} holds. O(candidates). */
  long uncachedTokens(FleetRequest request) {
    return uncachedTokens(request, candidates.longestMatch());
  }

  private int uncachedTokens(FleetRequest request, int matchedBlocks) {
    return request.inputTokens() - matchedBlocks * candidates.tokensPerBlock();
  }

  /** Chooses among the ranks that {@link #consider} found, and books. O(blocks + candidates). */
  Placement book(MatchedRequest matched, long waitedNs) {
    FleetRequest request = matched.request();
    candidates.setWaited(waitedNs);
    List<CandidateCost> costs = new ArrayList<>();
    Selection selection = candidates.size() == 1 ? ONLY : select(request, costs, options.explain());
    int chosen = selection.position();
    candidates.onChosen(chosen);
    RankId rank = candidates.rank(chosen);
    int matchedBlocks = candidates.matchedBlocks(chosen);
    int missing = uncachedTokens(request, matchedBlocks);
    int uncached = tracksPrefill(request) ? missing : 0;
    SequenceLoad load =
        new SequenceLoad(
            matched.hashes().sequence(),
            sharedBlocks(matched),
            request.inputTokens(),
            uncached,
            request.expectedOutputTokens());
    long attempt = sequences.add(request.id(), rank, load);
    announcer.placed(request.id(), attempt, rank, load);
    corrections.onPlaced(attempt, rank, candidates.heldBlocks(chosen), request.inputTokens());
    listener.onPlaced(
        attempt,
        rank,
        request,
        uncached,
        request.inputTokens() - uncached,
        missing - uncached,
        selection.firstTokenMs(),
        clockNs.getAsLong());
    return placement(attempt, request, selection, waitedNs, costs);
  }

  /**
   * Chooses among the ranks that {@link #consider} found, and books nothing. O(blocks +
   * candidates).
   */
  Placement preview(FleetRequest request) {
    candidates.setWaited(0);
    List<CandidateCost> costs = new ArrayList<>();
    return placement(0, request, select(request, costs, true), 0, costs);
  }

  /**
   * Whether a request may be refused because no rank that {@link #consider} found is expected to
   * meet its targets. O(candidates).
   */
  boolean isHopeless(FleetRequest request) {
    candidates.setWaited(0);
    return request.strictPriority() < 0
        && !request.targets().isNone()
        && selector.likelihood(candidates, request) < HOPELESS;
  }

  /** The time to compute a request on a rank that {@link #consider} found, in milliseconds. */
  double promptMs(FleetRequest request) {
    int uncached = uncachedTokens(request, candidates.longestMatch());
    return selector.promptMs(uncached, request.inputTokens() - uncached);
  }

  /** The time until each of some ranks has computed what is placed on it; zeros if unknown. */
  double[] backlogsMs(int ranks) {
    double[] backlogs = selector.backlogsMs();
    return backlogs.length == 0 ? new double[ranks] : backlogs;
  }

  /** An engine has said how many tokens of an attempt's prompt it had cached. */
  void onServed(long attempt, int cachedTokens) {
    Long worker = corrections.onServed(attempt, cachedTokens);
    if (worker != null) {
      candidates.correct(worker, corrections.of(worker));
    }
  }

  /** An attempt is over. */
  void onEnded(long attempt) {
    corrections.onEnded(attempt);
  }

  /** What a worker's engine reuses. */
  HitCorrection correction(long workerId) {
    return corrections.of(workerId);
  }

  private Placement placement(
      long attempt,
      FleetRequest request,
      Selection selection,
      long waitedNs,
      List<CandidateCost> costs) {
    int chosen = selection.position();
    return new Placement(
        attempt,
        candidates.rank(chosen),
        reason(request),
        selection.conversationId(),
        false,
        candidates.matchedBlocks(chosen),
        candidates.tokensPerBlock(),
        candidates.size(),
        waitedNs,
        selection.firstTokenMs(),
        selection.terms(),
        costs);
  }

  private Selection select(FleetRequest request, List<CandidateCost> costs, boolean explain) {
    Explanation explanation = explain ? new Explanation(candidates.size()) : null;
    CostTrace trace = explanation == null ? CostTrace.NONE : explanation;
    Selection selection = selector.select(candidates, request, trace);
    int chosen = selection.position();
    if (chosen < 0 || chosen >= candidates.size()) {
      throw new IllegalStateException(
          "a selector must choose 0 to " + (candidates.size() - 1) + ", not " + chosen);
    }
    if (explanation != null) {
      for (int i = 0; i < candidates.size(); i++) {
        costs.add(
            new CandidateCost(
                candidates.rank(i),
                candidates.matchedBlocks(i),
                candidates.activePrefillTokens(i),
                candidates.activeBlocks(i),
                candidates.newBlocks(i),
                candidates.activeRequests(i),
                explanation.terms.get(i),
                explanation.firstTokens[i]));
      }
    }
    return selection;
  }

  /** What the selector says of each candidate. */
  private static final class Explanation implements CostTrace {
    final List<Map<String, Double>> terms = new ArrayList<>();
    final @Nullable FirstTokenForecast[] firstTokens;

    Explanation(int candidates) {
      for (int i = 0; i < candidates; i++) {
        terms.add(new LinkedHashMap<>());
      }
      firstTokens = new FirstTokenForecast[candidates];
    }

    @Override
    public void term(int candidate, String name, double value) {
      terms.get(candidate).merge(name, value, Double::sum);
    }

    @Override
    public void firstToken(
        int candidate, double expectedMs, double lowMs, double highMs, double likelihood) {
      firstTokens[candidate] = new FirstTokenForecast(expectedMs, lowMs, highMs, likelihood);
    }
  }

  private Reason reason(FleetRequest request) {
    if (request.filter().isPinned()) {
      return Reason.EXPLICIT;
    }
    return candidates.size() == 1 ? Reason.ONLY_CANDIDATE : Reason.COST;
  }

  private boolean tracksPrefill(FleetRequest request) {
    return options.loads().trackPrefillTokens()
        && !Boolean.FALSE.equals(request.overrides().trackPrefillTokens());
  }

  /** Blocks of a request that other requests may share; the others are booked as its own. */
  private static int sharedBlocks(MatchedRequest matched) {
    return Boolean.FALSE.equals(matched.request().overrides().assumeKvReuse())
        ? 0
        : matched.blocks();
  }
}
