package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All ranks with their loads at one moment, narrowed down to those that may serve one request.
 * Guarded by the router's lock.
 */
final class CandidateTable implements Candidates {

  private final int tokensPerBlock;
  private final PredictedLoads loads = new PredictedLoads();
  private final Map<RankId, Known> ranks = new HashMap<>();
  private long choices;

  /** By position in {@link #loads}: what is known of the rank that was there last, or null. */
  private @Nullable Known[] known = new Known[0];

  /**
   * By position in {@link #loads}: leading blocks of the request that the rank is known to hold; 0
   * where some are only predicted.
   */
  private int[] heldBlocks = new int[0];

  /** By position in {@link #loads}: those that its engine reuses. */
  private int[] matchedBlocks = new int[0];

  /** Positions in {@link #loads} of the candidates, ascending. */
  private int[] positions = new int[0];

  private int size;
  private boolean tracksPrefill;
  private long waitedNs;

  /** What is known of one rank besides its load. */
  private static final class Known {
    private final RankId rank;
    private RankCapacity capacity = RankCapacity.UNKNOWN;
    private HitCorrection correction = HitCorrection.NONE;

    /** Its position in {@link #loads} at some time. */
    private int position;

    /** Number of the choice that was its last; 0 for none. */
    private long lastChosen;

    private Known(RankId rank) {
      this.rank = rank;
    }
  }

  CandidateTable(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /** Adds a rank, or changes what is known of it. */
  void set(RankId rank, RankCapacity capacity, HitCorrection correction) {
    Known its = ranks.computeIfAbsent(rank, Known::new);
    its.capacity = capacity;
    its.correction = correction;
  }

  /** Changes what a worker's engine reuses. O(ranks). */
  void correct(long workerId, HitCorrection correction) {
    for (Known each : ranks.values()) {
      if (each.rank.workerId() == workerId) {
        each.correction = correction;
      }
    }
  }

  /** The known ranks; a view. */
  Set<RankId> ranks() {
    return Collections.unmodifiableSet(ranks.keySet());
  }

  /** The capacity of a rank; unknown if the rank is. */
  RankCapacity capacity(RankId rank) {
    Known its = ranks.get(rank);
    return its == null ? RankCapacity.UNKNOWN : its.capacity;
  }

  boolean knows(RankId rank) {
    return ranks.containsKey(rank);
  }

  /** Returns false if the rank is unknown. */
  boolean remove(RankId rank) {
    Arrays.fill(known, null);
    return ranks.remove(rank) != null;
  }

  /** The loads, to be filled before the table is narrowed. */
  PredictedLoads loads() {
    return loads;
  }

  /** Narrows to the eligible ranks. O(ranks). Returns why there is none, or null if there is. */
  @Nullable Refusal narrow(RankFilter filter, BusyThresholds busy) {
    if (positions.length < loads.size()) {
      positions = new int[loads.size()];
      heldBlocks = new int[loads.size()];
      matchedBlocks = new int[loads.size()];
      known = new Known[loads.size()];
    }
    size = 0;
    boolean pinKnown = false;
    boolean anyAllowed = false;
    for (int i = 0; i < loads.size(); i++) {
      RankId rank = loads.rank(i);
      pinKnown |= filter.pins(rank);
      if (filter.allows(rank)) {
        anyAllowed = true;
        if (!busy.exceededBy(
            loads.activePrefillTokens(i), loads.activeBlocks(i), known(i).capacity)) {
          positions[size++] = i;
        }
      }
    }
    return size > 0 ? null : refusal(filter.isPinned(), pinKnown, anyAllowed);
  }

  private static Refusal refusal(boolean pinned, boolean pinKnown, boolean anyAllowed) {
    if (!pinned) {
      return anyAllowed ? Refusal.ALL_OVERLOADED : Refusal.NO_ENDPOINT;
    }
    if (!pinKnown) {
      return Refusal.PINNED_UNKNOWN;
    }
    return anyAllowed ? Refusal.PINNED_OVERLOADED : Refusal.PINNED_NOT_ALLOWED;
  }

  /** What is known of the rank at a position in the loads, which mostly is the same as before. */
  private Known known(int position) {
    RankId rank = loads.rank(position);
    Known its = known[position];
    if (its == null || !its.rank.equals(rank)) {
      its = ranks.get(rank);
      if (its == null) {
        return new Known(rank);
      }
      known[position] = its;
      its.position = position;
    }
    return its;
  }

  /** Whether some candidate has room for a request that may wait. O(candidates). */
  boolean anyRoom(QueueOptions queue) {
    for (int i = 0; i < size; i++) {
      if (queue.hasRoom(activePrefillTokens(i), capacity(i))) {
        return true;
      }
    }
    return false;
  }

  /** The position of a rank in the loads, which mostly is the same as before; negative if none. */
  private int position(RankId rank) {
    Known its = ranks.get(rank);
    return its != null && its.position < loads.size() && rank.equals(loads.rank(its.position))
        ? its.position
        : loads.indexOf(rank);
  }

  /** Sets what the ranks hold. O(ranks + matches), or O(matches x log ranks) for changed ranks. */
  void setMatches(RankMatches matches, int promptTokens, boolean prefillTracked) {
    tracksPrefill = prefillTracked;
    Arrays.fill(heldBlocks, 0, loads.size(), 0);
    Arrays.fill(matchedBlocks, 0, loads.size(), 0);
    for (int i = 0; i < matches.size(); i++) {
      int position = position(matches.rank(i));
      if (position >= 0) {
        int held = matches.blocks(i);
        heldBlocks[position] = matches.hasPredicted(i) ? 0 : held;
        matchedBlocks[position] =
            known(position).correction.blocks(held, promptTokens, tokensPerBlock);
      }
    }
  }

  /** The longest match among the candidates. O(candidates). */
  int longestMatch() {
    int longest = 0;
    for (int i = 0; i < size; i++) {
      longest = Math.max(longest, matchedBlocks(i));
    }
    return longest;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  @Override
  public boolean tracksPrefill() {
    return tracksPrefill;
  }

  @Override
  public long waitedNs() {
    return waitedNs;
  }

  /** Sets how long the request has waited. */
  void setWaited(long ns) {
    waitedNs = ns;
  }

  @Override
  public RankId rank(int i) {
    return loads.rank(positions[i]);
  }

  @Override
  public int matchedBlocks(int i) {
    return matchedBlocks[positions[i]];
  }

  /**
   * Leading blocks of the request that a candidate is known to hold, whether its engine reuses them
   * or not; 0 where some are only predicted.
   */
  int heldBlocks(int i) {
    return heldBlocks[positions[i]];
  }

  @Override
  public long activePrefillTokens(int i) {
    return loads.activePrefillTokens(positions[i]);
  }

  @Override
  public long activeBlocks(int i) {
    return loads.activeBlocks(positions[i]);
  }

  @Override
  public int newBlocks(int i) {
    return loads.newBlocks(positions[i]);
  }

  @Override
  public int activeRequests(int i) {
    return loads.activeRequests(positions[i]);
  }

  /** A candidate was chosen. */
  void onChosen(int i) {
    known(positions[i]).lastChosen = ++choices;
  }

  @Override
  public long lastChosen(int i) {
    return known(positions[i]).lastChosen;
  }

  @Override
  public RankCapacity capacity(int i) {
    return known(positions[i]).capacity;
  }
}
