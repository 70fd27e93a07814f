package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.model.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The ranks' pools while a batch is placed, as plainly as the rules can be written down. */
final class OracleRoom {

  private final BlockDemand demand;

  /** Occupancy of the ranks that report it, and what they have also promised. */
  private final Map<Integer, Occupancy> pools = new HashMap<>();

  private final Map<Integer, Long> promised = new HashMap<>();

  OracleRoom(BlockDemand demand, List<RankState> states) {
    this.demand = demand;
    for (RankState state : states) {
      if (demand != null && state.occupancy() != null) {
        pools.put(state.rank(), state.occupancy());
        promised.put(state.rank(), state.occupancy().reservedBlocks() + state.queuedBlocks());
      }
    }
  }

  boolean isEmpty() {
    return pools.isEmpty();
  }

  /** Whether a rank has room for a request, of which it holds so many tokens. */
  boolean hasRoom(int rank, Request request, int matchedTokens) {
    if (!pools.containsKey(rank)) {
      return true;
    }
    Occupancy pool = pools.get(rank);
    long matched = matchedTokens / demand.tokensPerBlock();
    long matchedEvictable = Math.min(matched, pool.cachedBlocks());
    return pool.freeBlocks() + pool.cachedBlocks() - matchedEvictable - promised.get(rank)
        >= blocks(request) - matched;
  }

  /** A request goes to a rank that has so many of its tokens. */
  void promise(int rank, Request request, int matchedTokens) {
    if (pools.containsKey(rank)) {
      long matched = matchedTokens / demand.tokensPerBlock();
      long pinned = Math.min(matched, pools.get(rank).cachedBlocks());
      promised.merge(rank, blocks(request) - matched + pinned, Long::sum);
    }
  }

  private long blocks(Request request) {
    int computed = request.promptTokens();
    if (demand.reservesOutput()) {
      computed += request.maxNewTokens() - 1;
    }
    long blocks = 0;
    for (int covered = 0; covered < computed; covered += demand.tokensPerBlock()) {
      blocks++;
    }
    return blocks;
  }
}
