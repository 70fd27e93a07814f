package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code projected} once more, as plainly as its design can be written down. Shares no code with
 * the router under test; sums are taken in the same order, since equal scores are common.
 */
final class ProjectedOracle {

  /** One rank that was compared for a request: its score and what that is the sum of. */
  record Compared(int rank, double score, List<Double> terms) {}

  /** One placement, with every rank that was compared for it. */
  record Placement(
      int requestIndex,
      int rank,
      AdpReason reason,
      int matchedTokens,
      boolean affinityActive,
      int maxMatch,
      List<Compared> compared) {}

  /** What a router answers, in comparable form. */
  record Answer(
      List<Placement> placements,
      List<Integer> unassigned,
      int expectedActiveRequests,
      List<Long> activeTokensAfter) {}

  private final int ranks;
  private final OracleTimes times;
  private final BlockDemand demand;
  private final OracleAges ages = new OracleAges();
  private final OracleConversations conversations;
  private final OracleWaits waits = new OracleWaits();
  private long placed;
  private int patient;

  private Map<Integer, OracleRank> live;
  private List<Double> pace;
  private OracleBatch batch;
  private int cap;
  private double oldest;
  private double queuesMs;
  private double longestQueueMs;
  private long largestPool;
  private List<Placement> placements;

  ProjectedOracle(int ranks, StepTiming timing, int maxNumTokens, BlockDemand demand) {
    this.ranks = ranks;
    this.times = new OracleTimes(timing, maxNumTokens);
    this.demand = demand;
    this.conversations = new OracleConversations(ranks);
  }

  /** How often a rank's samples were too many, so that every second one went. */
  int thinnings() {
    return ages.thinnings();
  }

  /** How often the head of a queue was placed because it had been left over too often. */
  int impatient() {
    return waits.impatient();
  }

  /** How often a request was left over although some rank had room. */
  int patient() {
    return patient;
  }

  /** Whether the last batch left its first leftover over for want of room. */
  boolean headWaits() {
    return waits.headWaits();
  }

  /** A step has taken so long. */
  void stepped(double ms) {
    waits.stepped(ms);
  }

  Answer route(List<RankState> states, List<Request> requests, PrefixMatches table, int hardCap) {
    batch = new OracleBatch(requests, table, demand);
    cap = hardCap;
    placements = new ArrayList<>();
    boolean somebodyRuns = false;
    read(states);
    for (RankState state : states) {
      int running = state.activeRequests() - state.inTransferRequests() + state.retiringRequests();
      somebodyRuns |= running > 0;
    }
    waits.beginBatch(active());
    List<Integer> remaining = placeNamed();
    int total = 0;
    for (int index : remaining) {
      total += weight(index);
    }
    int most = 0;
    for (OracleRank rank : live.values()) {
      total += rank.activeRequests;
      most = Math.max(most, rank.activeRequests);
    }
    int fair = (int) Math.ceil(total / (double) live.size());
    int expected = Math.min(Math.max(fair, most), cap);
    List<Integer> leftOver = placeOthers(remaining, somebodyRuns);
    for (OracleRank rank : live.values()) {
      expected = Math.max(expected, rank.activeRequests);
    }
    waits.endBatch(active(), !leftOver.isEmpty());
    List<Long> after = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      after.add(live.containsKey(rank) ? live.get(rank).activeTokens : 0L);
    }
    return new Answer(placements, leftOver, expected, after);
  }

  private long active() {
    return live.values().stream().mapToLong(rank -> rank.activeRequests).sum();
  }

  private void read(List<RankState> states) {
    live = new TreeMap<>();
    queuesMs = 0;
    longestQueueMs = 0;
    oldest = 1;
    largestPool = 0;
    for (RankState state : states) {
      OracleRank rank = new OracleRank(state, times, demand != null);
      live.put(state.rank(), rank);
      lengthen(rank);
      if (rank.reportsPool) {
        Occupancy pool = state.occupancy();
        ages.remember(state.rank(), pool.tick(), placed);
        rank.age = ages.age(state.rank(), pool.oldestEvictableTick(), placed);
        oldest = Math.max(oldest, rank.age);
        largestPool = Math.max(largestPool, pool.capacityBlocks());
      }
    }
    pace = new ArrayList<>(Collections.nCopies(32, slowestDecode()));
    live.values().forEach(this::slowDown);
  }

  private double slowestDecode() {
    return live.values().stream().mapToDouble(rank -> rank.decodeMs).max().orElse(0);
  }

  /** Requests that name a rank go there while it has room, strict ones first. */
  private List<Integer> placeNamed() {
    List<Integer> remaining = new ArrayList<>();
    for (boolean strict : new boolean[] {true, false}) {
      for (int index = 0; index < batch.size(); index++) {
        Request request = batch.request(index);
        boolean named = request.targetRank() >= 0;
        if ((named && !request.relax()) != strict) {
          continue;
        }
        OracleRank rank = live.get(request.targetRank());
        if (named && rank != null && rank.activeRequests < cap) {
          place(
              new Placement(
                  index,
                  request.targetRank(),
                  AdpReason.EXPLICIT,
                  batch.match(request.targetRank(), index),
                  false,
                  0,
                  List.of()));
        } else {
          remaining.add(index);
        }
      }
    }
    Collections.sort(remaining);
    return remaining;
  }

  private List<Integer> placeOthers(List<Integer> remaining, boolean somebodyRuns) {
    List<Integer> leftOver = new ArrayList<>();
    for (int index : remaining) {
      List<Compared> compared = compare(index);
      List<Compared> withRoom =
          compared.stream().filter(each -> waitMs(each.rank(), index) == 0).toList();
      boolean mayWait =
          (somebodyRuns || !placements.isEmpty())
              && !compared.isEmpty()
              && batch.blocks(index) <= largestPool
              && (withRoom.isEmpty() || aFullRankIsSooner(index, compared, withRoom));
      boolean isLeft =
          compared.isEmpty() || (mayWait && waits.leaveOver(batch.id(index), leftOver.isEmpty()));
      if (isLeft) {
        patient += withRoom.isEmpty() ? 0 : 1;
        leftOver.add(index);
      } else {
        place(choose(index, withRoom.isEmpty() ? compared : withRoom));
        waits.onPlaced(batch.id(index));
      }
    }
    return leftOver;
  }

  private boolean aFullRankIsSooner(int index, List<Compared> compared, List<Compared> withRoom) {
    Compared now = withRoom.get(0);
    for (Compared each : withRoom) {
      now = each.score() < now.score() ? each : now;
    }
    double waited = waits.waited(batch.id(index));
    for (Compared each : compared) {
      double wait = waitMs(each.rank(), index);
      if (wait > 0
          && each.score() + wait < now.score()
          && waited + wait + firstToken(each) < firstToken(now)) {
        return true;
      }
    }
    return false;
  }

  private static double firstToken(Compared compared) {
    return compared.terms().get(0) + compared.terms().get(1) + compared.terms().get(2);
  }

  /** How long it takes until a rank has room. */
  private double waitMs(int number, int index) {
    OracleRank rank = live.get(number);
    if (!poolsKnown()) {
      return 0;
    }
    double part = Double.POSITIVE_INFINITY;
    if (rank.activeRequests + (long) batch.request(index).sequences() <= cap) {
      long lacking = rank.reportsPool ? batch.lackingBlocks(index, number, live) : 0;
      if (lacking <= 0) {
        return 0;
      }
      part = (double) lacking / (rank.active + rank.reserved);
      part = Math.max(part, 1.0 / (1 + rank.activeRequests));
    }
    return waits.untilEnded(part);
  }

  private List<Compared> compare(int index) {
    List<Compared> compared = new ArrayList<>();
    live.forEach(
        (number, rank) -> {
          if (rank.activeRequests < cap) {
            compared.add(score(number, index));
          }
        });
    return compared;
  }

  private Placement choose(int index, List<Compared> compared) {
    int size = compared.size();
    int start = (int) (batch.spread(index) % size);
    Compared best = compared.get(start);
    int longest = 0;
    int shortest = Integer.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      Compared candidate = compared.get((start + i) % size);
      best = candidate.score() < best.score() ? candidate : best;
      longest = Math.max(longest, batch.match(candidate.rank(), index));
      shortest = Math.min(shortest, batch.match(candidate.rank(), index));
    }
    int matched = batch.match(best.rank(), index);
    return new Placement(
        index,
        best.rank(),
        matched > shortest ? AdpReason.AFFINITY : AdpReason.LOAD,
        matched,
        longest > shortest,
        longest,
        compared);
  }

  private Compared score(int number, int index) {
    OracleRank rank = live.get(number);
    int held = batch.held(number, index);
    int uncached = batch.length(index) - held;
    double queue = rank.lineMs(times);
    double compute = times.prefillMs(uncached, OracleTimes.pairs(held, uncached));
    double own = queue + compute;

    int steps = Math.max(1, times.steps(rank.line + uncached));
    double together = 0;
    for (int k = 0; k < steps; k++) {
      together += Math.max(pace.get(k), own / steps + rank.decodeMs);
    }

    double least = Double.MAX_VALUE;
    for (int other : live.keySet()) {
      int there = batch.held(other, index);
      int missing = batch.length(index) - there;
      least = Math.min(least, times.prefillMs(missing, OracleTimes.pairs(there, missing)));
    }
    double copied = compute - least;
    String conversation = batch.conversation(index);
    if (conversations.begins(conversation, batch.request(index).conversationId() != null)) {
      copied /=
          conversations.sharers(
              rank.reportsPool && rank.free - rank.promised <= 0 ? Math.min(512, rank.age) : 512);
    }
    double charged = least + copied;
    double longer = Math.max(0, queue + charged - longestQueueMs);
    double taken = charged;
    if (longer < charged) {
      taken = longer + (charged - longer) * (queuesMs / (live.size() * longestQueueMs));
    }
    List<Double> terms =
        List.of(
            queue,
            charged,
            0.5 * (together - own),
            4 * taken,
            evictionMs(rank, index, held),
            workMs(number, index));
    double score = 0;
    for (double term : terms) {
      score += term;
    }
    return new Compared(number, score, terms);
  }

  /** The cost of evicting blocks for a request. */
  private double evictionMs(OracleRank rank, int index, int held) {
    if (!rank.reportsPool) {
      return 0;
    }
    long needed = batch.blocks(index) - held / demand.tokensPerBlock();
    long evicted = Math.max(0, Math.min(needed, needed - (rank.free - rank.promised)));
    double again = times.linearMs((double) evicted * demand.tokensPerBlock());
    return 0.3 * (again * (1 - rank.age / oldest));
  }

  /** What the further turns of a rank's conversations cost, beyond those of the least one. */
  private double workMs(int number, int index) {
    String conversation = batch.conversation(index);
    double fewest = Double.MAX_VALUE;
    for (int other : live.keySet()) {
      fewest = Math.min(fewest, conversations.openBeside(conversation, other, placed));
    }
    return 1.25
        * conversations.furtherMs()
        / (1 + conversations.openOnAverage())
        * (conversations.openBeside(conversation, number, placed) - fewest);
  }

  private void place(Placement placement) {
    int index = placement.requestIndex();
    OracleRank rank = live.get(placement.rank());
    int held = batch.held(placement.rank(), index);
    int uncached = batch.length(index) - held;
    rank.add(weight(index), held, uncached);
    if (rank.reportsPool) {
      int perBlock = demand.tokensPerBlock();
      rank.addBlocks(batch.blocks(index), held / perBlock, placement.matchedTokens() / perBlock);
    }
    placed++;
    conversations.learn(
        batch.conversation(index),
        placement.rank(),
        times.prefillMs(uncached, OracleTimes.pairs(held, uncached)),
        placed);
    lengthen(rank);
    slowDown(rank);
    placements.add(placement);
  }

  /**
   * The steps of a rank's line share it evenly. Within a batch no step is expected to become
   * shorter than it was.
   */
  private void slowDown(OracleRank rank) {
    int steps = times.steps(rank.line);
    for (int k = 0; k < steps; k++) {
      pace.set(k, Math.max(pace.get(k), rank.lineMs(times) / steps + rank.decodeMs));
    }
  }

  private void lengthen(OracleRank rank) {
    double before = rank.queueMs;
    rank.queueMs = rank.lineMs(times);
    queuesMs += rank.queueMs - before;
    longestQueueMs = Math.max(longestQueueMs, rank.queueMs);
  }

  private boolean poolsKnown() {
    return live.values().stream().anyMatch(rank -> rank.reportsPool);
  }

  private int weight(int index) {
    return poolsKnown() ? 1 + batch.request(index).children() : 1;
  }
}
