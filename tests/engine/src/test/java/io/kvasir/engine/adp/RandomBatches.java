package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Random routing input in which ties, retired ranks, full ranks, shared prefixes and bad matches
 * are common.
 */
final class RandomBatches {

  /** One call of a router. */
  record Batch(
      List<RankState> states,
      List<Request> requests,
      PrefixMatches matches,
      int maxActiveRequests) {}

  private final SplittableRandom random;

  /** Operations of the pools so far, by rank, as {@link #nextWithWork} tells them. */
  private final Map<Integer, Long> ticks = new HashMap<>();

  RandomBatches(SplittableRandom random) {
    this.random = random;
  }

  int ranks() {
    return random.nextInt(10) == 0 ? 1 + random.nextInt(64) : 1 + random.nextInt(10);
  }

  AttentionDpConfig config() {
    NewConversationPlacement[] placements = NewConversationPlacement.values();
    AttentionDpConfig defaults = AttentionDpConfig.DEFAULT;
    return new AttentionDpConfig(
        defaults.enableBalance(),
        defaults.timeoutIters(),
        defaults.batchingWaitIters(),
        defaults.minGenerationRequests(),
        defaults.lowOccupancyTimeoutIters(),
        defaults.enableKvCacheAwareRouting(),
        defaults.conversationAffinity(),
        new KvCacheRoutingOptions(
            pick(0, 0.1, 0.25, 1, 1, 1, random.nextDouble() * 4),
            pick(0, 0.1, 0.1, 0.5, 1, random.nextDouble()),
            pick(1, 1.2, 1.5, 2, 2, 4, 1 + random.nextDouble()),
            random.nextInt(3) == 0,
            random.nextBoolean(),
            random.nextInt(3) == 0),
        (int) pick(1, 2, 5, 100),
        placements[random.nextInt(placements.length)],
        random.nextBoolean(),
        "");
  }

  /** What requests need of a pool; null as often as not. */
  BlockDemand demand() {
    return random.nextBoolean()
        ? null
        : new BlockDemand((int) pick(1, 4, 32), random.nextBoolean());
  }

  Batch next(int ranks) {
    int maxActiveRequests = (int) pick(0, 1, 2, 3, 8, 8, 100);
    List<Request> requests = new ArrayList<>();
    int count = random.nextInt(4) == 0 ? random.nextInt(40) : random.nextInt(9);
    while (requests.size() < count) {
      requests.add(request(ranks, requests));
    }
    return new Batch(
        states(ranks, maxActiveRequests), requests, matches(ranks, requests), maxActiveRequests);
  }

  /** How long ranks compute; some of these coefficients make equal scores common. */
  StepTiming timing() {
    return switch (random.nextInt(4)) {
      case 0 -> new StepTiming(0, 0, 0, 0, 0, 0, 0, 1);
      case 1 -> new StepTiming(0, 1, random.nextInt(2), 0, 8, 0, 1, 64);
      case 2 ->
          new StepTiming(
              random.nextDouble(), random.nextDouble(), random.nextDouble(), -1, 2, 1, 1, 1000);
      default -> StepTiming.DEFAULT;
    };
  }

  int maxNumTokens() {
    return (int) pick(1, 4, 16, 64, 8192);
  }

  /**
   * A batch whose states tell what ranks compute, who is in transfer or retiring and how pools age,
   * and whose matches tell what is being computed.
   */
  Batch nextWithWork(int ranks) {
    Batch batch = next(ranks);
    List<RankState> states = new ArrayList<>(batch.states());
    states.replaceAll(this::withWork);
    PrefixMatches matches = new PrefixMatches(ranks, batch.requests().size());
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < batch.requests().size(); i++) {
        matches.set(rank, i, batch.matches().tokens(rank, i));
        if (random.nextInt(3) == 0) {
          matches.setPending(rank, i, (int) pick(-5, 1, 5, 10, 32, 64, 96, random.nextInt(80)));
        }
      }
    }
    for (int i = 0; i < batch.requests().size(); i++) {
      matches.setConversation(i, Math.floorMod(batch.requests().get(i).id(), 6L));
    }
    return new Batch(
        states,
        batch.requests(),
        random.nextInt(4) == 0 ? batch.matches() : matches,
        batch.maxActiveRequests());
  }

  private RankState withWork(RankState state) {
    int active = state.activeRequests();
    RankWork work =
        random.nextInt(6) == 0
            ? null
            : new RankWork(
                random.nextInt(4),
                (long) pick(0, 0, 10, 10, random.nextInt(2000), random.nextInt(1 << 30)),
                pick(0, 10, 10, random.nextInt(5000) / 2.0),
                random.nextInt(3),
                (long) pick(0, 10, random.nextInt(2000), 1e12));
    return new RankState(
        state.rank(),
        active,
        state.activeTokens(),
        random.nextInt(6) == 0 ? 1 : 0,
        random.nextInt(3) == 0 ? random.nextInt(active + 1) : 0,
        state.queuedBlocks(),
        state.occupancy() == null ? null : aged(state.rank(), state.occupancy()),
        null,
        work);
  }

  /** Pools go on by few or many operations; sometimes one is another one and begins anew. */
  private Occupancy aged(int rank, Occupancy pool) {
    long before = random.nextInt(2000) == 0 ? 0 : ticks.getOrDefault(rank, 0L);
    long tick = before + (long) pick(0, 1, 1, 2, random.nextInt(1000));
    ticks.put(rank, tick);
    return new Occupancy(
        pool.capacityBlocks(),
        pool.freeBlocks(),
        pool.cachedBlocks(),
        pool.activeBlocks(),
        pool.reservedBlocks(),
        0,
        random.nextInt(4) == 0 ? tick : random.nextLong(tick + 1),
        tick);
  }

  private List<RankState> states(int ranks, int maxActiveRequests) {
    boolean idle = random.nextInt(3) == 0;
    long[] loads = {0, 10, 10, random.nextInt(2000), random.nextLong(1L << 40)};
    List<RankState> states = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int active = idle ? 0 : random.nextInt(maxActiveRequests + 2);
      states.add(new RankState(rank, active, idle ? 0 : loads[random.nextInt(loads.length)]));
    }
    if (random.nextBoolean()) {
      states.replaceAll(state -> random.nextInt(8) == 0 ? state : withOccupancy(state));
    }
    if (random.nextInt(4) == 0) {
      int kept = random.nextInt(ranks);
      states.removeIf(state -> state.rank() != kept && random.nextInt(3) == 0);
    }
    return states;
  }

  private RankState withOccupancy(RankState state) {
    long free = (long) pick(0, 0, 1, 3, 10, 100);
    long cached = (long) pick(0, 0, 1, 3, 10, 100);
    long reserved = random.nextLong(free + cached + 1);
    return state.withOccupancy(
        (long) pick(0, 0, 0, 1, 5),
        new Occupancy(free + cached + 7, free, cached, 7, reserved, 0, 0, 0));
  }

  private Request request(int ranks, List<Request> earlier) {
    long id = random.nextBoolean() ? random.nextInt(1000) : random.nextLong();
    int[] tokens;
    if (!earlier.isEmpty() && random.nextBoolean()) {
      int[] model = earlier.get(random.nextInt(earlier.size())).tokens();
      tokens = Arrays.copyOf(model, random.nextInt(2) == 0 ? model.length : random.nextInt(80));
    } else {
      tokens = new int[(int) pick(0, 1, 3, 10, 10, 64, 65, random.nextInt(80))];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = random.nextInt(20) == 0 ? random.nextInt() : random.nextInt(2);
      }
    }
    Request.Builder request =
        Request.builder(id, tokens)
            .maxNewTokens(1 + random.nextInt(100))
            .firstTurn(random.nextInt(3) == 0)
            .children(random.nextInt(6) == 0 ? random.nextInt(4) : 0);
    if (random.nextInt(3) > 0) {
      request.relax(random.nextBoolean());
    }
    if (random.nextInt(4) > 0) {
      request.conversationId(random.nextInt(10) == 0 ? "" : "c" + random.nextInt(12));
    }
    if (random.nextInt(4) == 0) {
      request.targetRank(random.nextInt(ranks));
    }
    return request.build();
  }

  private PrefixMatches matches(int ranks, List<Request> requests) {
    if (random.nextInt(4) == 0) {
      return PrefixMatches.NONE;
    }
    PrefixMatches matches = new PrefixMatches(ranks, requests.size());
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < requests.size(); i++) {
        if (random.nextInt(3) == 0) {
          matches.set(rank, i, (int) pick(-5, 1, 5, 10, 32, 64, 96, random.nextInt(80)));
        }
      }
    }
    return matches;
  }

  private double pick(double... values) {
    return values[random.nextInt(values.length)];
  }
}
