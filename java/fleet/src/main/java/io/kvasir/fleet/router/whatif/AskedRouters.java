package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The policies that are asked, and their attempts for each actual one. Not thread-safe. */
final class AskedRouters {

  /** A request that shows no sign of life for so long is over, as for policies that count load. */
  private static final long STALE_NS = ActiveSequencesOptions.DEFAULT.staleAfterNs();

  /** The attempts for a request, by router; 0 for those that did not place it. */
  private static final class Asked {
    final long[] attempts;
    long aliveNs;

    Asked(long[] attempts, long nowNs) {
      this.attempts = attempts;
      this.aliveNs = nowNs;
    }
  }

  /** A call about a router's own attempt. */
  private interface AttemptCall {
    void on(AskedRouter router, long attempt);
  }

  private final List<AskedRouter> routers;
  private final Long2ObjectOpenHashMap<Asked> byActual = new Long2ObjectOpenHashMap<>();
  private long sweptNs;

  AskedRouters(List<AskedRouter> routers, long nowNs) {
    this.routers = List.copyOf(routers);
    this.sweptNs = nowNs;
  }

  boolean readTokens(FleetRequest request) {
    return routers.stream().anyMatch(router -> router.readsTokens(request));
  }

  void addRank(RankId rank, RankCapacity capacity) {
    routers.forEach(router -> router.add(rank, capacity));
  }

  void removeRank(RankId rank) {
    routers.forEach(router -> router.remove(rank));
  }

  List<WhatIfCounts> counts() {
    return routers.stream().map(AskedRouter::counts).toList();
  }

  void close() {
    routers.forEach(router -> router.router.close());
  }

  /** Asks all of them, and returns the attempt of each; 0 for those that do not place it. */
  long[] place(FleetRequest request) {
    return routers.stream().mapToLong(router -> router.placeOrNot(request)).toArray();
  }

  /** A request has been placed. */
  void begin(long actual, long[] attempts, long nowNs) {
    byActual.put(actual, new Asked(attempts, nowNs));
  }

  /** A request was not placed. */
  void drop(long[] attempts) {
    end(attempts, false, VirtualSteps.UNKNOWN);
  }

  /** The actual request has got tokens; 0 says that its prompt is computed. */
  void onTokens(long actual, int tokens, long nowNs) {
    forEach(alive(actual, nowNs), (router, own) -> router.onActualTokens(own, tokens));
  }

  void onAlive(long actual, long nowNs) {
    forEach(alive(actual, nowNs), AskedRouter::onAlive);
  }

  private long @Nullable [] alive(long actual, long nowNs) {
    Asked asked = byActual.get(actual);
    if (asked == null) {
      return null;
    }
    asked.aliveNs = nowNs;
    return asked.attempts;
  }

  /**
   * The actual request has ended.
   *
   * @param firstNs when it had its first token, as {@link AskedRouter#onActualEnd}
   */
  void finish(long actual, boolean success, long firstNs) {
    Asked asked = byActual.remove(actual);
    end(asked == null ? null : asked.attempts, success, firstNs);
  }

  private void end(long @Nullable [] attempts, boolean success, long firstNs) {
    forEach(attempts, (router, own) -> router.onActualEnd(own, success, firstNs));
  }

  private void forEach(long @Nullable [] attempts, AttemptCall call) {
    for (int i = 0; attempts != null && i < attempts.length; i++) {
      if (attempts[i] != 0) {
        call.on(routers.get(i), attempts[i]);
      }
    }
  }

  /** Actual attempts whose ends were never reported. O(requests), at most each minute. */
  List<Long> stale(long nowNs) {
    if (nowNs - sweptNs < STALE_NS / 5) {
      return List.of();
    }
    sweptNs = nowNs;
    LongArrayList stale = new LongArrayList();
    byActual.forEach(
        (actual, asked) -> {
          if (nowNs - asked.aliveNs >= STALE_NS) {
            stale.add(actual);
          }
        });
    return stale;
  }
}
