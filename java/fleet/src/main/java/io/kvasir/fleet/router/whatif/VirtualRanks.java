package io.kvasir.fleet.router.whatif;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The virtual ranks of one policy, and its results on them. Not thread-safe. */
final class VirtualRanks {

  private final String router;
  private final FleetRouterSetup setup;
  private final Map<RankId, VirtualPool> pools = new HashMap<>();
  private final Map<RankId, Long> capacities = new HashMap<>();
  private final TreeMap<RankId, Long> placed = new TreeMap<>();
  private long requests;
  private long refused;
  private long promptTokens;
  private long hitTokens;

  VirtualRanks(String router, FleetRouterSetup setup) {
    this.router = router;
    this.setup = setup;
  }

  /** Adds a rank, or changes its capacity. */
  void add(RankId rank, long capacityBlocks) {
    capacities.put(rank, capacityBlocks);
    resize(rank);
    resize(RankId.anyOf(rank.workerId()));
  }

  void remove(RankId rank) {
    capacities.remove(rank);
    pools.remove(rank);
    placed.remove(rank);
    RankId worker = RankId.anyOf(rank.workerId());
    if (capacities.keySet().stream().anyMatch(left -> left.workerId() == rank.workerId())) {
      resize(worker);
    } else {
      pools.remove(worker);
      placed.remove(worker);
    }
  }

  private void resize(RankId rank) {
    VirtualPool pool = pools.get(rank);
    if (pool != null) {
      pool.resize(capacity(rank));
    }
  }

  /** A worker whose policy chooses no ranks has the capacity of all of them together. */
  private long capacity(RankId rank) {
    if (!rank.isAny()) {
      return capacities.getOrDefault(rank, 0L);
    }
    long sum = 0;
    for (Map.Entry<RankId, Long> each : capacities.entrySet()) {
      if (each.getKey().workerId() == rank.workerId()) {
        sum += each.getValue();
      }
    }
    return sum;
  }

  void refused() {
    refused++;
  }

  /**
   * A request was placed. O(blocks).
   *
   * @param changes receives what changes in the rank's cache
   * @return tokens of the prompt that the rank computes
   */
  int placed(FleetRequest request, RankId rank, BiConsumer<RankId, BlockEvent> changes) {
    VirtualPool pool = pools.get(rank);
    if (pool == null) {
      pool = new VirtualPool();
      pool.resize(capacity(rank));
      pools.put(rank, pool);
    }
    BlockHashes hashes = request.prefix(setup.naming(), setup.tokensPerBlock());
    long[] sequence = hashes.sequence();
    int blocks = hashes.blocks();
    int held = pool.match(sequence, blocks);
    int reusable = Math.min(held, Math.max(0, request.inputTokens() - 1) / setup.tokensPerBlock());
    promptTokens += request.inputTokens();
    hitTokens += (long) reusable * setup.tokensPerBlock();
    requests++;
    placed.merge(rank, 1L, Long::sum);
    long[] evicted = pool.use(sequence, blocks);
    if (held < blocks) {
      long[] stored = Arrays.copyOfRange(sequence, held, blocks);
      changes.accept(
          rank,
          held == 0
              ? BlockEvent.Stored.named(null, stored)
              : BlockEvent.Stored.namedAfter(null, sequence[held - 1], stored));
    }
    if (evicted.length > 0) {
      changes.accept(rank, BlockEvent.Removed.of(evicted));
    }
    return Math.max(1, request.inputTokens() - reusable * setup.tokensPerBlock());
  }

  /**
   * @param firstTokens times to the first token; null if they are not known
   */
  WhatIfCounts counts(@Nullable FirstTokenTimes firstTokens) {
    return new WhatIfCounts(
        router,
        requests,
        refused,
        promptTokens,
        hitTokens,
        placed,
        firstTokens == null ? Double.NaN : firstTokens.quantileMs(0.5),
        firstTokens == null ? Double.NaN : firstTokens.quantileMs(0.95));
  }
}
