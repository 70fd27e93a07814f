package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;

/** A live rank while {@link ProjectedOracle} places a batch. */
final class OracleRank {

  int activeRequests;
  long activeTokens;

  /** Whether its pool is known. */
  final boolean reportsPool;

  long free;
  long cached;
  long promised;
  long active;
  long reserved;
  double age;
  long line;
  double linePairs;
  double queueMs;
  double decodeMs;
  long taken;

  OracleRank(RankState state, OracleTimes times, boolean readsPools) {
    activeRequests = state.activeRequests();
    activeTokens = state.activeTokens();
    RankWork work = state.work();
    line = work == null ? activeTokens : work.prefillTokens();
    linePairs = work == null ? OracleTimes.pairs(0, activeTokens) : work.attendedPairs();
    if (work != null && work.decodingRequests() > 0) {
      decodeMs = times.decodeMs(work.decodeKvTokens());
    }
    Occupancy pool = state.occupancy();
    reportsPool = pool != null && readsPools;
    if (reportsPool) {
      free = pool.freeBlocks();
      cached = pool.cachedBlocks();
      promised = state.queuedBlocks();
      active = pool.activeBlocks();
      reserved = pool.reservedBlocks();
      taken = pool.reservedBlocks() + state.queuedBlocks();
    }
  }

  /** A request comes, of whose prompt tokens are held and others are not cached. */
  void add(int requests, int held, int uncached) {
    activeRequests += requests;
    activeTokens += uncached;
    line += uncached;
    linePairs += OracleTimes.pairs(held, uncached);
  }

  /** The blocks of a request that comes. */
  void addBlocks(long blocks, long held, long matched) {
    promised += blocks - held;
    taken += blocks - matched + Math.min(matched, cached);
  }

  double lineMs(OracleTimes times) {
    return times.prefillMs(line, linePairs);
  }
}
