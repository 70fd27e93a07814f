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

  /** When a rank's pool was at which tick: requests placed until then. */
  private record Sample(long tick, long placed) {}

  /** Where and when a conversation's last turn was placed. */
  private record LastTurn(int rank, long placed) {}

  /** A live rank while a batch is placed. */
  private static final class Rank {
    int activeRequests;
    long activeTokens;
    boolean told;
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
  }

  private final int ranks;
  private final StepTiming timing;
  private final int maxNumTokens;
  private final BlockDemand demand;

  private final Map<Integer, List<Sample>> history = new TreeMap<>();
  private final Map<String, LastTurn> conversations = new TreeMap<>();
  private final double[] open;
  private double firstTurns = 8;
  private double furtherTurns = 16;
  private double begun;
  private double timedTurns;
  private double timedMs;
  private double gap = 64;
  private long placed;
  private long headId;
  private int headCalls;
  private boolean headWaits;
  private double clock;
  private double counted;
  private long activeBefore;
  private double spent;
  private double ended;
  private final Map<Long, Double> leftSince = new TreeMap<>();
  private int thinnings;
  private int impatient;
  private int patient;

  private Map<Integer, Rank> live;
  private List<Double> pace;
  private List<Request> requests;
  private PrefixMatches matches;
  private int cap;
  private double oldest;
  private double queuesMs;
  private double longestQueueMs;
  private long largestPool;
  private List<Placement> placements;

  ProjectedOracle(int ranks, StepTiming timing, int maxNumTokens, BlockDemand demand) {
    this.ranks = ranks;
    this.timing = timing;
    this.maxNumTokens = maxNumTokens;
    this.demand = demand;
    this.open = new double[ranks];
  }

  /** How often a rank's samples were too many, so that every second one went. */
  int thinnings() {
    return thinnings;
  }

  /** How often the head of a queue was placed because it had been left over too often. */
  int impatient() {
    return impatient;
  }

  /** How often a request was left over although some rank had room. */
  int patient() {
    return patient;
  }

  /** Whether the last batch left its first leftover over for want of room. */
  boolean headWaits() {
    return headWaits;
  }

  /** A step has taken so long. */
  void stepped(double ms) {
    clock += ms;
  }

  Answer route(List<RankState> states, List<Request> batch, PrefixMatches table, int hardCap) {
    requests = batch;
    matches = table;
    cap = hardCap;
    placements = new ArrayList<>();
    boolean somebodyRuns = false;
    headWaits = false;
    read(states);
    for (RankState state : states) {
      int running = state.activeRequests() - state.inTransferRequests() + state.retiringRequests();
      somebodyRuns |= running > 0;
    }
    count();
    List<Integer> remaining = placeNamed();
    int total = 0;
    for (int index : remaining) {
      total += weight(index);
    }
    int most = 0;
    for (Rank rank : live.values()) {
      total += rank.activeRequests;
      most = Math.max(most, rank.activeRequests);
    }
    int fair = (int) Math.ceil(total / (double) live.size());
    int expected = Math.min(Math.max(fair, most), cap);
    List<Integer> leftOver = placeOthers(remaining, somebodyRuns);
    for (Rank rank : live.values()) {
      expected = Math.max(expected, rank.activeRequests);
    }
    activeBefore = active();
    List<Long> after = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      after.add(live.containsKey(rank) ? live.get(rank).activeTokens : 0L);
    }
    return new Answer(placements, leftOver, expected, after);
  }

  private long active() {
    return live.values().stream().mapToLong(rank -> rank.activeRequests).sum();
  }

  /** Counts what has ended since the last batch, and the time that requests have spent. */
  private void count() {
    spent += (clock - counted) * (activeBefore + active()) / 2;
    counted = clock;
    ended += Math.max(0, activeBefore - active());
    if (ended > 1024) {
      spent *= 1024 / ended;
      ended = 1024;
    }
  }

  private void read(List<RankState> states) {
    live = new TreeMap<>();
    queuesMs = 0;
    longestQueueMs = 0;
    oldest = 1;
    largestPool = 0;
    for (RankState state : states) {
      Rank rank = new Rank();
      live.put(state.rank(), rank);
      rank.activeRequests = state.activeRequests();
      rank.activeTokens = state.activeTokens();
      RankWork work = state.work();
      rank.line = work == null ? state.activeTokens() : work.prefillTokens();
      rank.linePairs = work == null ? pairs(0, state.activeTokens()) : work.attendedPairs();
      if (work != null && work.decodingRequests() > 0) {
        rank.decodeMs = timing.decodeMs(work.decodeKvTokens());
      }
      lengthen(rank);
      Occupancy pool = state.occupancy();
      if (pool != null && demand != null) {
        rank.told = true;
        rank.free = pool.freeBlocks();
        rank.cached = pool.cachedBlocks();
        rank.promised = state.queuedBlocks();
        rank.active = pool.activeBlocks();
        rank.reserved = pool.reservedBlocks();
        rank.taken = pool.reservedBlocks() + state.queuedBlocks();
        remember(state.rank(), pool.tick());
        rank.age = age(state.rank(), pool.oldestEvictableTick());
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

  private void remember(int rank, long tick) {
    List<Sample> samples = history.computeIfAbsent(rank, any -> new ArrayList<>());
    Sample last = samples.isEmpty() ? null : samples.get(samples.size() - 1);
    if (last != null && tick < last.tick()) {
      samples.clear();
      last = null;
    }
    if (last != null && (tick == last.tick() || placed == last.placed())) {
      return;
    }
    if (samples.size() == 256) {
      thinnings++;
      thin(samples);
    }
    samples.add(new Sample(tick, placed));
  }

  /** From the newest on, drops who may go without a gap of more than an eighth of an age. */
  private void thin(List<Sample> samples) {
    Sample newer = samples.get(samples.size() - 1);
    for (int i = samples.size() - 2; i > 0; i--) {
      Sample older = samples.get(i - 1);
      if ((newer.placed() - older.placed()) * 8 <= placed - older.placed()) {
        samples.remove(i);
      } else {
        newer = samples.get(i);
      }
    }
  }

  private double age(int rank, long tick) {
    long since = 0;
    for (Sample sample : history.get(rank)) {
      if (sample.tick() <= tick) {
        since = sample.placed();
      }
    }
    return placed - since;
  }

  /** Requests that name a rank go there while it has room, strict ones first. */
  private List<Integer> placeNamed() {
    List<Integer> remaining = new ArrayList<>();
    for (boolean strict : new boolean[] {true, false}) {
      for (int index = 0; index < requests.size(); index++) {
        Request request = requests.get(index);
        boolean named = request.targetRank() >= 0;
        if ((named && !request.relax()) != strict) {
          continue;
        }
        Rank rank = live.get(request.targetRank());
        if (named && rank != null && rank.activeRequests < cap) {
          place(
              new Placement(
                  index,
                  request.targetRank(),
                  AdpReason.EXPLICIT,
                  match(request.targetRank(), index),
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
              && blocks(index) <= largestPool
              && (withRoom.isEmpty() || aFullRankIsSooner(index, compared, withRoom));
      boolean waits = compared.isEmpty() || (mayWait && stillWaits(index, leftOver.isEmpty()));
      if (waits) {
        patient += withRoom.isEmpty() ? 0 : 1;
        leftOver.add(index);
      } else {
        place(choose(index, withRoom.isEmpty() ? compared : withRoom));
        leftSince.remove(requests.get(index).id());
      }
    }
    if (leftOver.isEmpty()) {
      headCalls = 0;
    }
    return leftOver;
  }

  /** Only the first has a limit on its calls. */
  private boolean stillWaits(int index, boolean first) {
    long id = requests.get(index).id();
    if (first) {
      headWaits = true;
      headCalls = headId == id ? headCalls + 1 : 1;
      headId = id;
      if (headCalls > 1000) {
        impatient++;
        return false;
      }
    }
    leftSince.putIfAbsent(id, clock);
    return true;
  }

  private boolean aFullRankIsSooner(int index, List<Compared> compared, List<Compared> withRoom) {
    Compared now = withRoom.get(0);
    for (Compared each : withRoom) {
      now = each.score() < now.score() ? each : now;
    }
    Double since = leftSince.get(requests.get(index).id());
    double waited = since == null ? 0 : clock - since;
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
    Rank rank = live.get(number);
    if (!poolsKnown()) {
      return 0;
    }
    double part = Double.POSITIVE_INFINITY;
    if (rank.activeRequests + (long) requests.get(index).sequences() <= cap) {
      long lacking = rank.told ? lackingBlocks(number, index) : 0;
      if (lacking <= 0) {
        return 0;
      }
      part = (double) lacking / (rank.active + rank.reserved);
      part = Math.max(part, 1.0 / (1 + rank.activeRequests));
    }
    return ended == 0 || spent == 0 ? Double.POSITIVE_INFINITY : part * spent / ended;
  }

  /** Of the match, what other ranks have too is in use where so much is. */
  private long lackingBlocks(int number, int index) {
    Rank rank = live.get(number);
    long matched = match(number, index) / demand.tokensPerBlock();
    List<Integer> matches =
        live.keySet().stream().map(each -> match(each, index)).sorted().toList();
    int second = matches.size() < 2 ? 0 : matches.get(matches.size() - 2);
    long inUse = Math.min(second / demand.tokensPerBlock(), rank.active);
    long unused = Math.min(Math.max(0, matched - inUse), rank.cached);
    return blocks(index) - matched + unused - (rank.free + rank.cached - rank.taken);
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
    int start = (int) (spread(requests.get(index).id()) % size);
    Compared best = compared.get(start);
    int longest = 0;
    int shortest = Integer.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      Compared candidate = compared.get((start + i) % size);
      best = candidate.score() < best.score() ? candidate : best;
      longest = Math.max(longest, match(candidate.rank(), index));
      shortest = Math.min(shortest, match(candidate.rank(), index));
    }
    int matched = match(best.rank(), index);
    return new Placement(
        index,
        best.rank(),
        matched > shortest ? AdpReason.AFFINITY : AdpReason.LOAD,
        matched,
        longest > shortest,
        longest,
        compared);
  }

  /** One fold of the id into the digest of nothing, without its sign. */
  private static long spread(long id) {
    long mixed = (Long.rotateLeft(0x243f6a8885a308d3L, 23) ^ id) * 0x9fb21c651e98df25L;
    return (mixed ^ (mixed >>> 32)) & Long.MAX_VALUE;
  }

  private Compared score(int number, int index) {
    Rank rank = live.get(number);
    int held = held(number, index);
    int uncached = length(index) - held;
    double queue = lineMs(rank);
    double compute = prefillMs(uncached, pairs(held, uncached));
    double own = queue + compute;

    int steps = Math.max(1, steps(rank.line + uncached));
    double together = 0;
    for (int k = 0; k < steps; k++) {
      together += Math.max(pace.get(k), own / steps + rank.decodeMs);
    }

    double eviction = 0;
    if (rank.told) {
      long needed = blocks(index) - held / demand.tokensPerBlock();
      long evicted = Math.max(0, Math.min(needed, needed - (rank.free - rank.promised)));
      double again = (double) evicted * demand.tokensPerBlock() * timing.prefillLinear();
      eviction = 0.3 * (again * (1 - rank.age / oldest));
    }
    double least = Double.MAX_VALUE;
    double fewest = Double.MAX_VALUE;
    double sum = 0;
    for (int other : live.keySet()) {
      int there = held(other, index);
      least =
          Math.min(least, prefillMs(length(index) - there, pairs(there, length(index) - there)));
      fewest = Math.min(fewest, openBeside(index, other));
    }
    for (double each : open) {
      sum += each;
    }
    double further = timedTurns == 0 ? 0 : furtherTurns / firstTurns * (timedMs / timedTurns);
    double work = 1.25 * further / (1 + sum / ranks) * (openBeside(index, number) - fewest);

    double copied = compute - least;
    String conversation = conversation(index);
    boolean named = requests.get(index).conversationId() != null;
    if (conversation != null
        && !conversations.containsKey(conversation)
        && (named || timedTurns > 0.5 * begun)) {
      double kept = rank.told && rank.free - rank.promised <= 0 ? Math.min(512, rank.age) : 512;
      copied /=
          1
              + furtherTurns / firstTurns * (kept / (kept + gap))
              + kept * (firstTurns / (firstTurns + furtherTurns)) / ranks;
    }
    double charged = least + copied;
    double longer = Math.max(0, queue + charged - longestQueueMs);
    double taken = charged;
    if (longer < charged) {
      taken = longer + (charged - longer) * (queuesMs / (live.size() * longestQueueMs));
    }
    List<Double> terms = List.of(queue, charged, 0.5 * (together - own), 4 * taken, eviction, work);
    double score = 0;
    for (double term : terms) {
      score += term;
    }
    return new Compared(number, score, terms);
  }

  /** Conversations of a rank that are expected to go on, but for the request's own. */
  private double openBeside(int index, int rank) {
    String conversation = conversation(index);
    LastTurn last = conversation == null ? null : conversations.get(conversation);
    return last == null || last.rank() != rank ? open[rank] : open[rank] - share(last);
  }

  private double share(LastTurn last) {
    double likely = furtherTurns / (firstTurns + furtherTurns);
    double left = likely * StrictMath.exp(-(double) (placed - last.placed()) / (4 * gap));
    return Math.min(open[last.rank()], left);
  }

  /** The request's conversation id, or else the key found by its prompt; null for none. */
  private String conversation(int index) {
    String id = requests.get(index).conversationId();
    long key = matches.conversation(index);
    return id != null ? id : key == 0 ? null : "key " + key;
  }

  /** Learns how conversations go on. */
  private void learn(int index, int rank, double computeMs) {
    double kept = StrictMath.exp(-1 / (4 * gap));
    for (int i = 0; i < ranks; i++) {
      open[i] *= kept;
    }
    String conversation = conversation(index);
    if (conversation == null) {
      return;
    }
    LastTurn last = conversations.get(conversation);
    if (last != null) {
      open[last.rank()] -= share(last);
    }
    double fading = 1 - 1.0 / 4096;
    firstTurns *= fading;
    begun *= fading;
    furtherTurns *= fading;
    if (last == null) {
      firstTurns++;
      begun++;
    } else {
      furtherTurns++;
      timedTurns = timedTurns * fading + 1;
      timedMs = timedMs * fading + computeMs;
      gap += (placed - last.placed() - gap) * (1.0 / 64);
    }
    open[rank] += furtherTurns / (firstTurns + furtherTurns);
    conversations.put(conversation, new LastTurn(rank, placed));
  }

  private void place(Placement placement) {
    int index = placement.requestIndex();
    Rank rank = live.get(placement.rank());
    int held = held(placement.rank(), index);
    int uncached = length(index) - held;
    rank.activeRequests += weight(index);
    rank.activeTokens += uncached;
    rank.line += uncached;
    rank.linePairs += pairs(held, uncached);
    if (rank.told) {
      int perBlock = demand.tokensPerBlock();
      long matched = placement.matchedTokens() / perBlock;
      rank.promised += blocks(index) - held / perBlock;
      rank.taken += blocks(index) - matched + Math.min(matched, rank.cached);
    }
    placed++;
    learn(index, placement.rank(), prefillMs(uncached, pairs(held, uncached)));
    lengthen(rank);
    slowDown(rank);
    placements.add(placement);
  }

  /**
   * The steps of a rank's line share it evenly. Within a batch no step is expected to become
   * shorter than it was.
   */
  private void slowDown(Rank rank) {
    int steps = steps(rank.line);
    for (int k = 0; k < steps; k++) {
      pace.set(k, Math.max(pace.get(k), lineMs(rank) / steps + rank.decodeMs));
    }
  }

  private void lengthen(Rank rank) {
    double before = rank.queueMs;
    rank.queueMs = lineMs(rank);
    queuesMs += rank.queueMs - before;
    longestQueueMs = Math.max(longestQueueMs, rank.queueMs);
  }

  private int steps(long tokens) {
    return (int) Math.min(32, wholeSteps(tokens));
  }

  private long wholeSteps(long tokens) {
    return tokens / maxNumTokens + (tokens % maxNumTokens == 0 ? 0 : 1);
  }

  private double lineMs(Rank rank) {
    return prefillMs(rank.line, rank.linePairs);
  }

  private double prefillMs(long tokens, double pairs) {
    return timing.prefillQuadratic() * 2 * pairs
        + timing.prefillLinear() * tokens
        + timing.prefillConstantMs() * wholeSteps(tokens);
  }

  private static double pairs(long context, long tokens) {
    return tokens * (context + tokens / 2.0);
  }

  private boolean poolsKnown() {
    return live.values().stream().anyMatch(rank -> rank.told);
  }

  private int weight(int index) {
    return poolsKnown() ? 1 + requests.get(index).children() : 1;
  }

  private long blocks(int index) {
    if (demand == null) {
      return 0;
    }
    long tokens = length(index);
    if (demand.reservesOutput()) {
      tokens += requests.get(index).maxNewTokens() - 1;
    }
    return tokens / demand.tokensPerBlock() + (tokens % demand.tokensPerBlock() == 0 ? 0 : 1);
  }

  private int length(int index) {
    return requests.get(index).promptTokens();
  }

  private int match(int rank, int index) {
    return Math.max(0, Math.min(matches.tokens(rank, index), length(index)));
  }

  /** All but the last token may be there, or on its way. */
  private int held(int rank, int index) {
    int pending = matches.pendingTokens(rank, index);
    return Math.max(0, Math.min(pending, length(index) - 1));
  }
}
