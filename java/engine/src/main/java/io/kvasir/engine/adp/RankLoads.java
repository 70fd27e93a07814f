package io.kvasir.engine.adp;

import io.kvasir.model.Checks;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The load of each rank of a worker while a batch is placed, and the set of live ranks. A rank is
 * live if the batch has a state for it. A rank without a state has been retired; it has no room and
 * is not part of the mean.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch.
 */
final class RankLoads {

  /** Active requests of a retired rank: at least any cap. */
  private static final int NO_ROOM = Integer.MAX_VALUE;

  private static final long[] NO_TOKENS = {};

  private final int[] activeRequests;
  private final int[] live;
  private int liveCount;
  private long[] activeTokens = NO_TOKENS;

  RankLoads(int ranks) {
    Checks.atLeast("ranks", ranks, 1);
    this.activeRequests = new int[ranks];
    this.live = new int[ranks];
  }

  /** Rejects states that are out of range or not in ascending rank order; changes nothing. */
  void check(List<RankState> states) {
    if (states.isEmpty() || states.size() > ranks()) {
      throw new IllegalArgumentException(
          "states must have 1 to "
              + ranks()
              + " entries, one for each live rank, not "
              + states.size());
    }
    int index = 0;
    int lowest = 0;
    for (RankState state : states) {
      if (state.rank() < lowest || state.rank() >= ranks()) {
        String rule = "rank must be within " + lowest + " to " + (ranks() - 1);
        throw badState(index, rule, state.rank());
      }
      if (state.activeRequests() < 0) {
        throw badState(index, "activeRequests must be at least 0", state.activeRequests());
      }
      if (state.activeTokens() < 0) {
        throw badState(index, "activeTokens must be at least 0", state.activeTokens());
      }
      lowest = state.rank() + 1;
      index++;
    }
  }

  private static IllegalArgumentException badState(int index, String rule, long value) {
    return new IllegalArgumentException("states[" + index + "]." + rule + ", not " + value);
  }

  /** Starts a batch from states that passed {@link #check}. */
  void begin(List<RankState> states) {
    Arrays.fill(activeRequests, NO_ROOM);
    activeTokens = new long[ranks()];
    liveCount = 0;
    for (RankState state : states) {
      live[liveCount++] = state.rank();
      activeRequests[state.rank()] = state.activeRequests();
      activeTokens[state.rank()] = state.activeTokens();
    }
  }

  void add(int rank, int sequences, int tokens) {
    activeRequests[rank] += sequences;
    activeTokens[rank] += tokens;
  }

  /** Ranks of the worker, live or retired. */
  int ranks() {
    return activeRequests.length;
  }

  int liveCount() {
    return liveCount;
  }

  /** The index of the {@code i}-th live rank; ascending with {@code i}. */
  int live(int i) {
    return live[i];
  }

  /** The lowest live rank of a set, or -1. */
  int firstLive(BitSet candidates) {
    int rank = candidates.nextSetBit(0);
    while (rank >= 0 && activeRequests[rank] == NO_ROOM) {
      rank = candidates.nextSetBit(rank + 1);
    }
    return rank;
  }

  boolean isLive(int rank) {
    return activeRequests[rank] != NO_ROOM;
  }

  /** Active requests of the fullest live rank. */
  int mostActiveRequests() {
    int most = 0;
    for (int i = 0; i < liveCount; i++) {
      most = Math.max(most, activeRequests[live[i]]);
    }
    return most;
  }

  /** Active requests of all live ranks. */
  long allActiveRequests() {
    long all = 0;
    for (int i = 0; i < liveCount; i++) {
      all += activeRequests[live[i]];
    }
    return all;
  }

  int activeRequests(int rank) {
    return activeRequests[rank];
  }

  long activeTokens(int rank) {
    return activeTokens[rank];
  }

  /**
   * Each rank's active tokens, 0 for retired ranks. Ownership of the array passes to the caller.
   */
  long[] takeActiveTokens() {
    long[] taken = activeTokens;
    activeTokens = NO_TOKENS;
    return taken;
  }

  /**
   * A multiple of the live ranks' fair share, at least the count of the fullest rank, and at most
   * the hard cap. The cap applies last, so the result can be below a rank's own count.
   */
  int softTarget(int newRequests, double multiplier, int maxActiveRequests) {
    long total = newRequests;
    for (int i = 0; i < liveCount; i++) {
      total += activeRequests[live[i]];
    }
    long fairShare = (total + liveCount - 1) / liveCount;
    double target = Math.max(Math.ceil(multiplier * fairShare), mostActiveRequests());
    return (int) Math.min(target, maxActiveRequests);
  }
}
