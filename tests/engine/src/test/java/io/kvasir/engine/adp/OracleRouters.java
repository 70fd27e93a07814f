package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The routers once more, as plainly as the rules can be written down: lists and maps, a whole
 * shuffle for every decision. Shares no code with the routers under test.
 */
final class OracleRouters {

  /** One placement: the request's index in the batch, where it went and why. */
  record Placement(
      int requestIndex,
      int rank,
      AdpReason reason,
      int matchedTokens,
      boolean affinityActive,
      int maxMatch) {}

  /** What a router answers, in comparable form. */
  record Answer(
      List<Placement> placements,
      List<Integer> unassigned,
      int expectedActiveRequests,
      List<Long> activeTokensAfter) {}

  private final int ranks;
  private final AdpRouterKind kind;
  private final boolean cacheAware;
  private final AttentionDpConfig config;
  private final KvCacheRoutingOptions options;
  private final BlockDemand demand;
  final TreeSet<Integer> warmupPending = new TreeSet<>();

  /** Least recently used first. */
  final LinkedHashMap<String, Integer> bindings = new LinkedHashMap<>();

  private int firstTurnCursor;
  private int conversationCursor;
  private int maxActiveRequests;
  private List<Request> requests;
  private PrefixMatches matches;
  private Map<Integer, Integer> active;
  private Map<Integer, Long> tokens;
  private OracleRoom pools;
  private List<Placement> placements;

  OracleRouters(AdpRouterKind kind, int ranks, AttentionDpConfig config, BlockDemand demand) {
    this.ranks = ranks;
    this.kind = kind;
    this.cacheAware = kind == AdpRouterKind.KV_CACHE_AWARE;
    this.config = config;
    this.options = config.kvCacheRouting();
    this.demand = demand;
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
    pools = new OracleRoom(demand, states);
    for (RankState state : states) {
      active.put(state.rank(), state.activeRequests());
      tokens.put(state.rank(), state.activeTokens());
    }
    List<Integer> remainder = placeTargeted();
    int expected = softTarget(remainder);
    List<Integer> leftovers =
        switch (kind) {
          case DEFAULT -> placeByLoad(remainder, expected);
          case KV_CACHE_AWARE -> placeByScore(remainder, expected);
          case CONVERSATION -> placeByConversation(remainder, expected);
          case PROJECTED -> throw new IllegalArgumentException("see ProjectedOracle");
        };
    if (kind == AdpRouterKind.CONVERSATION) {
      expected = Math.max(expected, Collections.max(active.values()));
    }
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
        Comparator.comparing(
            i ->
                requests.get(i).relax()
                    || (kind != AdpRouterKind.CONVERSATION && requests.get(i).targetRank() < 0)));
    List<Integer> remainder = new ArrayList<>();
    for (int i : visit) {
      int target = requests.get(i).targetRank();
      AdpReason reason = AdpReason.EXPLICIT;
      if (target < 0) {
        target = warmupPending.stream().filter(active::containsKey).findFirst().orElse(-1);
        reason = AdpReason.WARMUP;
      }
      if (active.containsKey(target) && active.get(target) < maxActiveRequests && home(i) == null) {
        place(i, target, reason, charge(i, target));
        warmupPending.remove(target);
        bind(i, target);
      } else {
        remainder.add(i);
      }
    }
    return remainder;
  }

  private int charge(int index, int rank) {
    return switch (kind) {
      case DEFAULT -> config.dkvTokenLoad() ? newTokens(index) : 0;
      case KV_CACHE_AWARE -> length(index) - match(rank, index);
      case CONVERSATION ->
          config.newConversationPlacement() == NewConversationPlacement.LEAST_TOKENS
              ? length(index)
              : 0;
      case PROJECTED -> throw new IllegalArgumentException("see ProjectedOracle");
    };
  }

  private int softTarget(List<Integer> remaining) {
    int live = active.size();
    int sum = 0;
    for (int i : remaining) {
      sum += weight(i);
    }
    for (int count : active.values()) {
      sum += count;
    }
    int fair = (sum + live - 1) / live;
    double multiplier = kind == AdpRouterKind.DEFAULT ? 1.0 : options.fairShareMultiplier();
    int expected = Math.max((int) Math.ceil(multiplier * fair), Collections.max(active.values()));
    return Math.min(expected, maxActiveRequests);
  }

  private int newTokens(int index) {
    int held = 0;
    for (int rank : active.keySet()) {
      held = Math.max(held, match(rank, index));
    }
    return config.dkvTokenLoad() ? length(index) - held : length(index);
  }

  private List<Integer> placeByLoad(List<Integer> remainder, int expected) {
    remainder.sort(Comparator.comparing(i -> -newTokens(i)));
    List<Integer> leftovers = new ArrayList<>();
    for (int i : remainder) {
      List<Integer> usable = usable(i, eligible(expected));
      if (usable.isEmpty()) {
        leftovers.add(i);
      } else {
        int rank =
            Collections.min(
                usable,
                Comparator.<Integer, Long>comparing(r -> tokens.get(r))
                    .thenComparing(r -> active.get(r))
                    .thenComparing(r -> r));
        place(i, rank, AdpReason.LOAD, newTokens(i));
      }
    }
    return leftovers;
  }

  private List<Integer> placeByConversation(List<Integer> remainder, int expected) {
    for (int i : remainder) {
      List<Integer> below = eligible(expected);
      List<Integer> usable = usable(i, below);
      boolean choosy = below.stream().anyMatch(rank -> canHold(rank, i));
      Integer home = home(i);
      if (home != null && active.get(home) < maxActiveRequests && (!choosy || canHold(home, i))) {
        place(i, home, AdpReason.STICKY, charge(i, home));
        bind(i, home);
        continue;
      }
      Integer pick = null;
      if (config.newConversationPlacement() == NewConversationPlacement.ROUND_ROBIN) {
        for (int scanned = 0; scanned < ranks && pick == null; scanned++) {
          int inspected = conversationCursor % ranks;
          conversationCursor++;
          pick = usable.contains(inspected) ? inspected : null;
        }
      }
      boolean turn = pick != null;
      if (!turn) {
        boolean byTokens =
            config.newConversationPlacement() == NewConversationPlacement.LEAST_TOKENS;
        List<Integer> inTurn = new ArrayList<>();
        for (int step = 0; step < ranks; step++) {
          inTurn.add(byTokens ? (conversationCursor + step) % ranks : step);
        }
        pick =
            Collections.min(
                usable.isEmpty() ? active.keySet() : usable,
                Comparator.<Integer, Long>comparing(r -> byTokens ? tokens.get(r) : 0L)
                    .thenComparing(r -> active.get(r))
                    .thenComparing(inTurn::indexOf));
        conversationCursor = byTokens ? pick + 1 : conversationCursor;
      }
      AdpReason fresh = turn ? AdpReason.ROUND_ROBIN : AdpReason.LOAD;
      place(i, pick, home != null ? AdpReason.OVERFLOW : fresh, charge(i, pick));
      if (home == null) {
        bind(i, pick);
      }
    }
    return new ArrayList<>();
  }

  /** Where a request's conversation lives, if anywhere on a live rank. */
  private Integer home(int index) {
    String id = requests.get(index).conversationId();
    Integer rank = id == null || kind != AdpRouterKind.CONVERSATION ? null : bindings.get(id);
    return active.containsKey(rank) ? rank : null;
  }

  private void bind(int index, int rank) {
    String id = requests.get(index).conversationId();
    if (kind == AdpRouterKind.CONVERSATION && id != null && !id.isEmpty()) {
      bindings.remove(id);
      bindings.put(id, rank);
      if (bindings.size() > config.maxSessions()) {
        bindings.remove(bindings.keySet().iterator().next());
      }
    }
  }

  private int weight(int index) {
    return pools.isEmpty() ? 1 : 1 + requests.get(index).children();
  }

  /** The ranks of a list that can hold a request, or all if none can. */
  private List<Integer> usable(int index, List<Integer> candidates) {
    List<Integer> able = candidates.stream().filter(rank -> canHold(rank, index)).toList();
    return able.isEmpty() ? candidates : able;
  }

  private boolean canHold(int rank, int index) {
    if (pools.isEmpty()) {
      return true;
    }
    if (active.get(rank) + weight(index) > maxActiveRequests) {
      return false;
    }
    return pools.hasRoom(rank, requests.get(index), match(rank, index));
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
      List<Integer> usable = usable(i, eligible);
      if (options.firstTurnRoundRobin() && requests.get(i).firstTurn()) {
        int rank = firstTurnCursor;
        while (!usable.contains(rank)) {
          rank = (rank + 1) % ranks;
        }
        firstTurnCursor = (rank + 1) % ranks;
        place(i, rank, AdpReason.FIRST_TURN, length(i) - match(rank, i));
        eligible = eligible(expected);
        continue;
      }
      List<Integer> order = new ArrayList<>(usable);
      new PythonRandom(requests.get(i).id()).shuffle(order);
      double denominator = Math.max(length(i), 1);
      long load = 0;
      int longest = 0;
      for (int rank : usable) {
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
      AdpReason reason = affinity ? AdpReason.AFFINITY : AdpReason.LOAD;
      place(i, pick, reason, length(i) - match(pick, i), gate, longest);
      eligible = eligible(expected);
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

  private void place(int index, int rank, AdpReason reason, int charge) {
    place(index, rank, reason, charge, false, 0);
  }

  private void place(
      int index, int rank, AdpReason reason, int charge, boolean affinityActive, int maxMatch) {
    active.merge(rank, weight(index), Integer::sum);
    tokens.merge(rank, (long) charge, Long::sum);
    pools.promise(rank, requests.get(index), match(rank, index));
    placements.add(
        new Placement(index, rank, reason, match(rank, index), affinityActive, maxMatch));
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
}
