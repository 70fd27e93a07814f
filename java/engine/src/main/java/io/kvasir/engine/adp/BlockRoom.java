package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.List;

/**
 * The blocks that each rank can still promise while a batch is placed.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch.
 */
final class BlockRoom {

  /*
   * A rank can hold a request if
   *
   *   free + cached - matchedCached - reserved - queued - placed  >=  demand - matched
   *
   * free, cached and reserved are the pool's own counts; queued is what requests need that the rank
   * has but not started, placed the same for requests of this batch. The matched blocks are not
   * needed anew, but those of them that nobody uses stop being evictable. A router does not know
   * which those are. The bound that never promises too much takes as many as there can be:
   * matchedCached = min(matched, cached). A rank whose matched blocks are in use anyway may thus be
   * passed over while another rank has room; it is never wrongly chosen.
   *
   * A rank whose occupancy is unknown can hold anything.
   */

  private static final long UNKNOWN = Long.MAX_VALUE;

  private final BlockDemand demand;
  private final long[] available;
  private final long[] cached;
  private boolean known;

  /**
   * Makes the accounts of a worker.
   *
   * @param demand what requests need; null if nobody knows, and then all ranks can hold anything
   */
  BlockRoom(int ranks, BlockDemand demand) {
    this.demand = demand;
    this.available = new long[ranks];
    this.cached = new long[ranks];
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
      }
    }
  }

  /** Whether any rank's occupancy is known in this batch. */
  boolean known() {
    return known;
  }

  boolean canHold(int rank, Request request, int matchedTokens) {
    return available[rank] >= taken(rank, request, matchedTokens);
  }

  void take(int rank, Request request, int matchedTokens) {
    if (known && available[rank] != UNKNOWN) {
      available[rank] -= taken(rank, request, matchedTokens);
    }
  }

  private long taken(int rank, Request request, int matchedTokens) {
    long matched = matchedTokens / demand.tokensPerBlock();
    return demand.blocks(request) - matched + Math.min(matched, cached[rank]);
  }
}
