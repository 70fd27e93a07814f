package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * A direct implementation of the router's rules, slow and obvious: every look-up of a load sums
 * over all attempts, and every operation scans the whole queue.
 */
final class NaiveRouter {

  /** The recorded load of a rank. */
  record Load(long prefill, int blocks, int requests) {}

  private record Booking(
      FleetRequest request, RankId rank, Set<Object> blocks, AtomicInteger prefill) {}

  private record Waiting(
      FleetRequest request, Map<RankId, Integer> held, long arrivedNs, double key) {}

  private final int tokensPerBlock;
  private final RankSelector selector;
  private final QueueOptions queue;
  private final TreeMap<RankId, RankCapacity> ranks = new TreeMap<>();
  private final Map<Long, Booking> bookings = new HashMap<>();
  private final List<Waiting> queued = new ArrayList<>();

  /** Matched blocks of every prompt, by rank. */
  final Map<RankId, Integer> held = new HashMap<>();

  /** Outcomes so far: {@code request rank matched waited}, or {@code request refusal}. */
  final List<String> settled = new ArrayList<>();

  BusyThresholds busy = BusyThresholds.NONE;
  long nowNs;

  NaiveRouter(int tokensPerBlock, RankSelector selector, QueueOptions queue) {
    this.tokensPerBlock = tokensPerBlock;
    this.selector = selector;
    this.queue = queue;
  }

  void addRank(RankId rank, RankCapacity capacity) {
    ranks.put(rank, capacity);
    serve();
  }

  void removeRank(RankId rank) {
    ranks.remove(rank);
    held.remove(rank);
    bookings.values().removeIf(booking -> booking.rank().equals(rank));
    for (Waiting waiting : inOrder()) {
      Refusal refusal = refusal(waiting.request().filter(), BusyThresholds.NONE);
      if (refusal != null) {
        queued.remove(waiting);
        settled.add(waiting.request().id() + " " + refusal);
      }
    }
    serve();
  }

  void setBusyThresholds(BusyThresholds thresholds) {
    busy = thresholds;
    serve();
  }

  void route(FleetRequest request) {
    long id = request.id();
    RankFilter filter = request.filter();
    if (bookings.containsKey(id) || queued.stream().anyMatch(w -> w.request().id() == id)) {
      settled.add(id + " " + Refusal.DUPLICATE_REQUEST);
    } else if (refusal(filter, busy) != null) {
      settled.add(id + " " + refusal(filter, busy));
    } else if (hasRoom(filter)) {
      book(request, held, 0);
    } else if (queued.size() >= queue.maxQueuedRequests()) {
      settled.add(id + " " + Refusal.REQUEST_LIMIT);
    } else if (waitingTokens() >= queue.maxQueuedTokens()) {
      settled.add(id + " " + Refusal.RAW_ISL_TOKEN_LIMIT);
    } else {
      int longest =
          eligible(filter, busy).stream().mapToInt(r -> matched(request, held, r)).max().orElse(0);
      long uncached = request.inputTokens() - (long) longest * tokensPerBlock;
      queued.add(
          new Waiting(
              request,
              Map.copyOf(held),
              nowNs,
              queue
                  .queuePolicy()
                  .key(request.priorityJump(), nowNs / 1e9, uncached, Double.POSITIVE_INFINITY)));
    }
    serve();
  }

  void cancel(long id) {
    if (queued.removeIf(waiting -> waiting.request().id() == id)) {
      settled.add(id + " cancelled");
    }
  }

  void onPrefillDone(long id) {
    if (bookings.containsKey(id)) {
      bookings.get(id).prefill().set(0);
    }
    serve();
  }

  void onFinished(long id) {
    bookings.remove(id);
    serve();
  }

  QueueDepth depth() {
    return new QueueDepth(queued.size(), waitingTokens());
  }

  Map<RankId, Load> loads() {
    Map<RankId, Load> loads = new TreeMap<>();
    ranks.keySet().forEach(rank -> loads.put(rank, load(rank)));
    return loads;
  }

  private long waitingTokens() {
    return queued.stream().mapToLong(waiting -> waiting.request().inputTokens()).sum();
  }

  private List<Waiting> inOrder() {
    return queued.stream()
        .sorted(
            Comparator.comparing((Waiting w) -> -w.request().strictPriority())
                .thenComparing(w -> -w.key()))
        .collect(Collectors.toList());
  }

  private void serve() {
    for (boolean again = true; again; ) {
      again = false;
      for (Waiting waiting : inOrder()) {
        if (!again && hasRoom(waiting.request().filter())) {
          again = true;
          queued.remove(waiting);
          long waited = nowNs - waiting.arrivedNs();
          boolean stale = queue.matchRefreshAfterNs() > 0 && waited > queue.matchRefreshAfterNs();
          book(waiting.request(), stale ? held : waiting.held(), waited);
        }
      }
    }
  }

  private Set<Object> users(RankId rank) {
    Set<Object> blocks = new HashSet<>();
    bookings.values().stream()
        .filter(booking -> booking.rank().equals(rank))
        .forEach(booking -> blocks.addAll(booking.blocks()));
    return blocks;
  }

  private Load load(RankId rank) {
    List<Booking> there =
        bookings.values().stream().filter(b -> b.rank().equals(rank)).collect(Collectors.toList());
    return new Load(
        there.stream().mapToLong(booking -> booking.prefill().get()).sum(),
        users(rank).size(),
        there.size());
  }

  private List<RankId> eligible(RankFilter filter, BusyThresholds thresholds) {
    return ranks.keySet().stream()
        .filter(
            rank ->
                filter.allows(rank)
                    && !thresholds.exceededBy(
                        load(rank).prefill(), load(rank).blocks(), ranks.get(rank)))
        .collect(Collectors.toList());
  }

  private Refusal refusal(RankFilter filter, BusyThresholds thresholds) {
    if (!eligible(filter, thresholds).isEmpty()) {
      return null;
    }
    boolean overloaded = !eligible(filter, BusyThresholds.NONE).isEmpty();
    if (filter.pinnedWorker() == null) {
      return overloaded ? Refusal.ALL_OVERLOADED : Refusal.NO_ENDPOINT;
    }
    if (overloaded) {
      return Refusal.PINNED_OVERLOADED;
    }
    return ranks.keySet().stream().anyMatch(filter::pins)
        ? Refusal.PINNED_NOT_ALLOWED
        : Refusal.PINNED_UNKNOWN;
  }

  private boolean hasRoom(RankFilter filter) {
    return eligible(filter, busy).stream()
        .anyMatch(rank -> queue.hasRoom(load(rank).prefill(), ranks.get(rank)));
  }

  private static int matched(FleetRequest request, Map<RankId, Integer> held, RankId rank) {
    return Math.min(RouterFixture.hashes(request).length, held.getOrDefault(rank, 0));
  }

  private static Set<Object> blocks(FleetRequest request, int tokensPerBlock) {
    Set<Object> blocks = new HashSet<>();
    boolean shared = !Boolean.FALSE.equals(request.overrides().assumeKvReuse());
    for (int i = 0; i * tokensPerBlock < request.inputTokens(); i++) {
      boolean named = shared && i < RouterFixture.hashes(request).length;
      blocks.add(named ? (Object) RouterFixture.hashes(request)[i] : request.id() + ":" + i);
    }
    return blocks;
  }

  private void book(FleetRequest request, Map<RankId, Integer> matches, long waitedNs) {
    List<RankId> eligible = eligible(request.filter(), busy);
    boolean tracks = !Boolean.FALSE.equals(request.overrides().trackPrefillTokens());
    Set<Object> blocks = blocks(request, tokensPerBlock);
    NaiveCandidates candidates = new NaiveCandidates(tokensPerBlock, tracks, new ArrayList<>());
    for (RankId rank : eligible) {
      Set<Object> added = new HashSet<>(blocks);
      added.removeAll(users(rank));
      candidates
          .list()
          .add(
              new NaiveCandidates.One(
                  rank,
                  matched(request, matches, rank),
                  load(rank),
                  added.size(),
                  ranks.get(rank)));
    }
    int chosen = selector.select(candidates, request, CostTrace.NONE).position();
    RankId rank = eligible.get(chosen);
    int matched = candidates.matchedBlocks(chosen);
    int prefill = tracks ? request.inputTokens() - matched * tokensPerBlock : 0;
    bookings.put(request.id(), new Booking(request, rank, blocks, new AtomicInteger(prefill)));
    settled.add(request.id() + " " + rank + " " + matched + " " + waitedNs);
  }
}
