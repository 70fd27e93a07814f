package io.kvasir.fleet.router.cost;

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
 * The scheduler's rules, slow and obvious: loads are added up from all bookings whenever somebody
 * asks, and the whole line is looked at again after every operation.
 */
final class NaiveScheduler {

  /** What a rank has booked. */
  record Load(long prefill, int blocks, int requests) {}

  private record Booking(
      SelectionRequest request, RankId rank, Set<Object> blocks, AtomicInteger prefill) {}

  private record Waiting(
      SelectionRequest request, Map<RankId, Integer> held, long arrivedNs, double key) {}

  private final int tokensPerBlock;
  private final WorkerSelector selector;
  private final QueueOptions queue;
  private final TreeMap<RankId, RankCapacity> ranks = new TreeMap<>();
  private final Map<Long, Booking> bookings = new HashMap<>();
  private final List<Waiting> line = new ArrayList<>();

  /** What the ranks hold of every prompt, in blocks. */
  final Map<RankId, Integer> held = new HashMap<>();

  /** What was settled since somebody looked: {@code request rank overlap waited}, or a refusal. */
  final List<String> settled = new ArrayList<>();

  BusyThresholds busy = BusyThresholds.NONE;
  long nowNs;

  NaiveScheduler(int tokensPerBlock, WorkerSelector selector, QueueOptions queue) {
    this.tokensPerBlock = tokensPerBlock;
    this.selector = selector;
    this.queue = queue;
  }

  void setRank(RankId rank, RankCapacity capacity) {
    ranks.put(rank, capacity);
    serve();
  }

  void removeRank(RankId rank) {
    ranks.remove(rank);
    bookings.values().removeIf(booking -> booking.rank().equals(rank));
    for (Waiting waiting : inOrder()) {
      Refusal refusal = refusal(waiting.request().filter(), BusyThresholds.NONE);
      if (refusal != null) {
        line.remove(waiting);
        settled.add(waiting.request().requestId() + " " + refusal);
      }
    }
    serve();
  }

  void setBusyThresholds(BusyThresholds thresholds) {
    busy = thresholds;
    serve();
  }

  void submit(SelectionRequest request) {
    long id = request.requestId();
    RankFilter filter = request.filter();
    if (bookings.containsKey(id) || line.stream().anyMatch(w -> w.request().requestId() == id)) {
      settled.add(id + " " + Refusal.DUPLICATE_REQUEST);
    } else if (refusal(filter, busy) != null) {
      settled.add(id + " " + refusal(filter, busy));
    } else if (hasRoom(filter)) {
      book(request, held, 0);
    } else if (line.size() >= queue.maxQueuedRequests()) {
      settled.add(id + " " + Refusal.REQUEST_LIMIT);
    } else if (waitingTokens() >= queue.maxQueuedTokens()) {
      settled.add(id + " " + Refusal.RAW_ISL_TOKEN_LIMIT);
    } else {
      int longest =
          eligible(filter, busy).stream().mapToInt(r -> overlap(request, held, r)).max().orElse(0);
      long uncached = request.inputTokens() - (long) longest * tokensPerBlock;
      line.add(
          new Waiting(
              request,
              Map.copyOf(held),
              nowNs,
              queue.queuePolicy().key(request.priorityJump(), nowNs / 1e9, uncached)));
    }
    serve();
  }

  void cancel(long id) {
    if (line.removeIf(waiting -> waiting.request().requestId() == id)) {
      settled.add(id + " cancelled");
    }
  }

  void prefillDone(long id) {
    if (bookings.containsKey(id)) {
      bookings.get(id).prefill().set(0);
    }
    serve();
  }

  void free(long id) {
    bookings.remove(id);
    serve();
  }

  QueueDepth depth() {
    return new QueueDepth(line.size(), waitingTokens());
  }

  Map<RankId, Load> loads() {
    Map<RankId, Load> loads = new TreeMap<>();
    ranks.keySet().forEach(rank -> loads.put(rank, load(rank)));
    return loads;
  }

  private long waitingTokens() {
    return line.stream().mapToLong(waiting -> waiting.request().inputTokens()).sum();
  }

  private List<Waiting> inOrder() {
    return line.stream()
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
          line.remove(waiting);
          long waited = nowNs - waiting.arrivedNs();
          boolean stale =
              queue.overlapRefreshAfterNs() > 0 && waited > queue.overlapRefreshAfterNs();
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

  private static int overlap(SelectionRequest request, Map<RankId, Integer> held, RankId rank) {
    return Math.min(request.blocks(), held.getOrDefault(rank, 0));
  }

  private static Set<Object> blocks(SelectionRequest request, int tokensPerBlock) {
    Set<Object> blocks = new HashSet<>();
    boolean shared = !Boolean.FALSE.equals(request.overrides().assumeKvReuse());
    for (int i = 0; i * tokensPerBlock < request.inputTokens(); i++) {
      boolean named = shared && i < request.blocks();
      blocks.add(named ? (Object) request.sequenceHashes()[i] : request.requestId() + ":" + i);
    }
    return blocks;
  }

  private void book(SelectionRequest request, Map<RankId, Integer> overlaps, long waitedNs) {
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
                  overlap(request, overlaps, rank),
                  load(rank),
                  added.size(),
                  ranks.get(rank)));
    }
    int chosen = selector.select(candidates, request, CostTrace.NONE);
    RankId rank = eligible.get(chosen);
    int overlap = candidates.overlapBlocks(chosen);
    int prefill = tracks ? request.inputTokens() - overlap * tokensPerBlock : 0;
    bookings.put(
        request.requestId(), new Booking(request, rank, blocks, new AtomicInteger(prefill)));
    settled.add(request.requestId() + " " + rank + " " + overlap + " " + waitedNs);
  }
}
