package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks still available on each rank while a batch is placed.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch.
 */
final class BlockRoom {

  /*
   * A rank can hold a request if
   *
   *   free + cached - matchedCached - reserved - queued - placed  >=  demand - matched
   *
   * free, cached and reserved are the pool's own counts. queued is the demand of requests on the
   * rank that have not started; placed is the demand of requests that this batch placed on it.
   * Matched blocks need no allocation, but matched blocks that are unused now stop being evictable.
   * A router cannot see how many these are, so it assumes the most there can be:
   * matchedCached = min(matched, cached). That bound never overcommits a pool. It may skip a rank
   * whose matched blocks are already in use, but it never chooses a rank without room.
   *
   * A rank of unknown occupancy can hold any request.
   */

  private static final long UNKNOWN = Long.MAX_VALUE;

  private final @Nullable BlockDemand demand;
  private final long[] available;
  private final long[] cached;
  private final long[] active;
  private final long[] reserved;
  private boolean known;

  /**
   * Creates the accounts of a worker.
   *
   * @param demand blocks that a request needs; null to treat every rank as having room
   */
  BlockRoom(int ranks, @Nullable BlockDemand demand) {
    this.demand = demand;
    this.available = new long[ranks];
    this.cached = new long[ranks];
    this.active = new long[ranks];
    this.reserved = new long[ranks];
  }

  boolean readsOccupancy() {
    return demand != null;
  }

  void begin(List<RankState> states) {
    known = false;
    if (demand == null) {
      return;
    }
    Arrays.fill(available, UNKNOWN);
    Arrays.fill(cached, 0);
    for (RankState state : states) {
      Occupancy occupancy = state.occupancy();
      if (occupancy != null) {
        known = true;
        available[state.rank()] = occupancy.availableBlocks() - state.queuedBlocks();
        cached[state.rank()] = occupancy.cachedBlocks();
        active[state.rank()] = occupancy.activeBlocks();
        reserved[state.rank()] = occupancy.reservedBlocks();
      }
    }
  }

  /** Whether any rank's occupancy is known in this batch. */
  boolean known() {
    return known;
  }

  boolean canHold(int rank, Request request, int matchedTokens) {
    return demand == null || available[rank] >= taken(demand, rank, request, matchedTokens);
  }

  /**
   * The part of the blocks in use that must become available before a rank is expected to hold a
   * request: 0 if it can now, infinite if nothing is in use. A match on several ranks is a prefix
   * that requests share, so running requests are assumed to use it, as far as they use so many
   * blocks. Matched blocks beyond it are counted as {@link #canHold} does.
   *
   * @param sharedTokens leading tokens of the prompt that several ranks match
   */
  double lackingPart(int rank, Request request, int matchedTokens, int sharedTokens) {
    if (demand == null || available[rank] == UNKNOWN) {
      return 0;
    }
    long matched = matchedTokens / demand.tokensPerBlock();
    long shared = Math.min(sharedTokens / demand.tokensPerBlock(), active[rank]);
    long unused = Math.min(Math.max(0, matched - shared), cached[rank]);
    long lacking = demand.blocks(request) - matched + unused - available[rank];
    return lacking <= 0 ? 0 : lacking / (double) (active[rank] + reserved[rank]);
  }

  void take(int rank, Request request, int matchedTokens) {
    if (demand != null && known && available[rank] != UNKNOWN) {
      available[rank] -= taken(demand, rank, request, matchedTokens);
    }
  }

  private long taken(BlockDemand needs, int rank, Request request, int matchedTokens) {
    long matched = matchedTokens / needs.tokensPerBlock();
    return needs.blocks(request) - matched + Math.min(matched, cached[rank]);
  }
}
