package io.kvasir.route;

import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankState;
import io.kvasir.model.Request;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeSet;

/**
 * The two routers once more, as plainly as the rules can be written down: lists and maps, a whole
 * shuffle for every decision. Shares no code with the routers under test.
 */
final class OracleRouters {

  /** One placement: the request's index in the batch, where it went and why. */
  record Placement(int requestIndex, int rank, Reason reason, int matchedTokens) {}

  /** What a router answers, in comparable form. */
  record Answer(
      List<Placement> placements,
      List<Integer> unassigned,
      int expectedActiveRequests,
      List<Long> activeTokensAfter) {}

  private final int ranks;
  private final boolean cacheAware;
  private final KvCacheRoutingOptions options;
  final TreeSet<Integer> warmupPending = new TreeSet<>();

  private int maxActiveRequests;
  private List<Request> requests;
  private PrefixMatches matches;
  private Map<Integer, Integer> active;
  private Map<Integer, Long> tokens;
  private List<Placement> placements;

  OracleRouters(AdpRouterKind kind, int ranks, KvCacheRoutingOptions options) {
    this.ranks = ranks;
    this.cacheAware = kind == AdpRouterKind.KV_CACHE_AWARE;
    this.options = options;
    for (int rank = 0; cacheAware && options.coldStartWarmup() && rank < ranks; rank++) {
      warmupPending.add(rank);
    }
  }

  Answer route(List<RankState> states, List<Request> batch, PrefixMatches table, int hardCap) {
    maxActiveRequests = hardCap;
    requests = batch;
    matches = table;
    active = new HashMap<>();
    tokens = new HashMap<>();
    placements = new ArrayList<>();
    for (RankState state : states) {
      active.put(state.rank(), state.activeRequests());
      tokens.put(state.rank(), state.activeTokens());
    }
    List<Integer> remainder = placeTargeted();
    int expected = softTarget(remainder.size());
    List<Integer> leftovers =
        cacheAware ? placeByScore(remainder, expected) : placeByLoad(remainder, expected);
    Collections.sort(leftovers);
    List<Long> after = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      after.add(tokens.getOrDefault(rank, 0L));
    }
    return new Answer(placements, leftovers, expected, after);
  }

  private List<Integer> placeTargeted() {
    List<Integer> visit = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      visit.add(i);
    }
    visit.sort(
        Comparator.comparing(i -> requests.get(i).relax() || requests.get(i).targetRank() < 0));
    List<Integer> remainder = new ArrayList<>();
    for (int i : visit) {
      int target = requests.get(i).targetRank();
      Reason reason = Reason.EXPLICIT;
      if (target < 0) {
        target = warmupPending.stream().filter(active::containsKey).findFirst().orElse(-1);
        reason = Reason.WARMUP;
      }
      if (active.containsKey(target) && active.get(target) < maxActiveRequests) {
        place(i, target, reason, cacheAware ? length(i) - match(target, i) : 0);
        warmupPending.remove(target);
      } else {
        remainder.add(i);
      }
    }
    return remainder;
  }

  private int softTarget(int remaining) {
    int live = active.size();
    int sum = 0;
    for (int count : active.values()) {
      sum += count;
    }
    int fair = (sum + remaining + live - 1) / live;
    double multiplier = cacheAware ? options.fairShareMultiplier() : 1.0;
    int expected = Math.max((int) Math.ceil(multiplier * fair), Collections.max(active.values()));
    return Math.min(expected, maxActiveRequests);
  }

  private List<Integer> placeByLoad(List<Integer> remainder, int expected) {
    PriorityQueue<Integer> heap =
        new PriorityQueue<>(
            Comparator.<Integer, Long>comparing(rank -> tokens.get(rank))
                .thenComparing(rank -> active.get(rank))
                .thenComparing(rank -> rank));
    heap.addAll(eligible(expected));
    remainder.sort(Comparator.comparing(i -> -length(i)));
    List<Integer> leftovers = new ArrayList<>();
    for (int i : remainder) {
      Integer rank = heap.poll();
      if (rank == null) {
        leftovers.add(i);
        continue;
      }
      place(i, rank, Reason.LOAD, length(i));
      if (active.get(rank) < expected) {
        heap.add(rank);
      }
    }
    return leftovers;
  }

  private List<Integer> placeByScore(List<Integer> remainder, int expected) {
    remainder.sort(
        Comparator.<Integer, List<Long>>comparing(this::firstTokens, OracleRouters::lexicographic)
            .thenComparing(i -> -length(i)));
    List<Integer> eligible = eligible(expected);
    List<Integer> leftovers = new ArrayList<>();
    for (int i : remainder) {
      if (eligible.isEmpty()) {
        leftovers.add(i);
        continue;
      }
      List<Integer> order = new ArrayList<>(eligible);
      new Python(requests.get(i).id()).shuffle(order);
      double denominator = Math.max(length(i), 1);
      long load = 0;
      int longest = 0;
      for (int rank : eligible) {
        load += tokens.get(rank);
        longest = Math.max(longest, match(rank, i));
      }
      denominator = Math.max((double) load, denominator);
      boolean gate = (double) longest / Math.max(length(i), 1) > options.matchRateThreshold();
      int pick = -1;
      double pickScore = 0;
      for (int rank : order) {
        double share = tokens.get(rank) / denominator;
        share = share * length(i);
        share = options.loadBalanceWeight() * share;
        double score = (length(i) - (gate ? match(rank, i) : 0)) + share;
        if (pick < 0
            || score < pickScore
            || (score == pickScore && tokens.get(rank) < tokens.get(pick))) {
          pick = rank;
          pickScore = score;
        }
      }
      boolean affinity = gate && match(pick, i) > 0;
      place(i, pick, affinity ? Reason.AFFINITY : Reason.LOAD, length(i) - match(pick, i));
      if (active.get(pick) >= expected) {
        eligible.remove(Integer.valueOf(pick));
      }
    }
    return leftovers;
  }

  private List<Integer> eligible(int expected) {
    List<Integer> eligible = new ArrayList<>();
    for (int rank : new TreeSet<>(active.keySet())) {
      if (active.get(rank) < expected) {
        eligible.add(rank);
      }
    }
    return eligible;
  }

  private void place(int index, int rank, Reason reason, int charge) {
    active.merge(rank, 1, Integer::sum);
    tokens.merge(rank, (long) charge, Long::sum);
    placements.add(new Placement(index, rank, reason, match(rank, index)));
  }

  private int length(int index) {
    return requests.get(index).promptTokens();
  }

  private int match(int rank, int index) {
    int match = matches.tokens(rank, index);
    return match < 0 ? 0 : match > length(index) ? length(index) : match;
  }

  private List<Long> firstTokens(int index) {
    List<Long> first = new ArrayList<>();
    for (int token : requests.get(index).tokens()) {
      if (first.size() < 64) {
        first.add(Integer.toUnsignedLong(token));
      }
    }
    return first;
  }

  private static int lexicographic(List<Long> a, List<Long> b) {
    for (int i = 0; i < a.size() && i < b.size(); i++) {
      if (!a.get(i).equals(b.get(i))) {
        return a.get(i).compareTo(b.get(i));
      }
    }
    return Integer.compare(a.size(), b.size());
  }

  /** {@code random.Random(seed)}: MT19937 in 64-bit arithmetic, the whole state at a time. */
  static final class Python {
    private static final long MASK = 0xffffffffL;
    private final long[] state = new long[624];
    private int used = 624;

    Python(long seed) {
      List<Long> key = new ArrayList<>();
      BigInteger rest = BigInteger.valueOf(seed).abs();
      do {
        key.add(rest.longValue() & MASK);
        rest = rest.shiftRight(32);
      } while (rest.signum() != 0);
      state[0] = 19650218;
      for (int i = 1; i < 624; i++) {
        state[i] = (1812433253L * (state[i - 1] ^ (state[i - 1] >> 30)) + i) & MASK;
      }
      int i = 1;
      int j = 0;
      for (int k = 0; k < 624; k++) {
        long mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1664525L;
        state[i] = ((state[i] ^ mixed) + key.get(j) + j) & MASK;
        j = (j + 1) % key.size();
        i = following(i);
      }
      for (int k = 0; k < 623; k++) {
        long mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941L;
        state[i] = ((state[i] ^ mixed) - i) & MASK;
        i = following(i);
      }
      state[0] = 0x80000000L;
    }

    private int following(int i) {
      if (i + 1 < 624) {
        return i + 1;
      }
      state[0] = state[623];
      return 1;
    }

    private long nextWord() {
      if (used == 624) {
        for (int i = 0; i < 624; i++) {
          long y = (state[i] & 0x80000000L) | (state[(i + 1) % 624] & 0x7fffffffL);
          state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y % 2 == 1 ? 0x9908b0dfL : 0);
        }
        used = 0;
      }
      long y = state[used++];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680L;
      y ^= (y << 15) & 0xefc60000L;
      return y ^ (y >> 18);
    }

    <T> void shuffle(List<T> list) {
      for (int i = list.size() - 1; i > 0; i--) {
        int bits = Integer.toBinaryString(i + 1).length();
        long j;
        do {
          j = nextWord() >> (32 - bits);
        } while (j > i);
        Collections.swap(list, i, (int) j);
      }
    }
  }
}
