package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.Reason;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A direct implementation of the routers' rules over lists; prefixes are compared, never hashed.
 */
abstract class WorkerOracle {

  /** An expected choice. */
  record Answer(
      String worker,
      int generation,
      long weight,
      Reason reason,
      boolean firstTurn,
      Map<String, Long> matches,
      List<List<Integer>> beginnings) {}

  final List<String> workers = new ArrayList<>();
  final Map<String, Long> loads = new HashMap<>();
  private final Map<String, Integer> generations = new HashMap<>();
  int turn;

  boolean add(String worker) {
    if (workers.contains(worker)) {
      return false;
    }
    workers.add(worker);
    loads.put(worker, 0L);
    generations.merge(worker, 1, Integer::sum);
    return true;
  }

  boolean remove(String worker) {
    loads.remove(worker);
    forget(worker);
    return workers.remove(worker);
  }

  long load(String worker) {
    return loads.getOrDefault(worker, 0L);
  }

  Answer next(FleetRequest request, Set<String> excluded) {
    List<String> candidates = new ArrayList<>(workers);
    candidates.removeAll(excluded);
    if (candidates.isEmpty()) {
      return null;
    }
    Answer answer = choose(request, excluded, candidates);
    loads.merge(answer.worker(), answer.weight(), Long::sum);
    return answer;
  }

  void finish(Answer answer, boolean success) {
    if (workers.contains(answer.worker())
        && generations.get(answer.worker()) == answer.generation()) {
      loads.merge(answer.worker(), -answer.weight(), Long::sum);
      if (success) {
        learn(answer);
      }
    }
  }

  abstract Answer choose(FleetRequest request, Set<String> excluded, List<String> candidates);

  void forget(String worker) {}

  void learn(Answer answer) {}

  long[] tell(String worker, int[] prompt, boolean removed) {
    return new long[0];
  }

  Answer answer(String worker, long weight, Reason reason, boolean firstTurn) {
    return new Answer(
        worker, generations.get(worker), weight, reason, firstTurn, Map.of(), List.of());
  }

  String byTurns(List<String> tied) {
    return tied.get(turn++ % tied.size());
  }

  String leastLoaded(List<String> candidates) {
    long least = candidates.stream().mapToLong(loads::get).min().orElseThrow();
    return byTurns(candidates.stream().filter(s -> loads.get(s) == least).toList());
  }

  /** The prefixes that end at each block; the last token is excluded. */
  static List<List<Integer>> beginnings(int[] elements, int tokensPerBlock) {
    List<Integer> all = IntStream.of(elements).boxed().collect(Collectors.toList());
    List<List<Integer>> beginnings = new ArrayList<>();
    for (int end = 0; end < all.size() - 1; ) {
      end = Math.min(end + tokensPerBlock, all.size() - 1);
      beginnings.add(all.subList(0, end));
    }
    return beginnings;
  }

  static int[] elements(FleetRequest request) {
    return request.prompt() instanceof Prompt.Tokens tokens
        ? tokens.sequences().get(0)
        : request.prompt().text().codePoints().toArray();
  }

  static final class RoundRobin extends WorkerOracle {
    @Override
    Answer choose(FleetRequest request, Set<String> excluded, List<String> candidates) {
      String worker = byTurns(workers);
      while (excluded.contains(worker)) {
        worker = byTurns(workers);
      }
      return answer(worker, 1, Reason.ROUND_ROBIN, false);
    }
  }

  static final class LoadBalancing extends WorkerOracle {
    private final boolean useTokens;

    LoadBalancing(boolean useTokens) {
      this.useTokens = useTokens;
    }

    @Override
    Answer choose(FleetRequest request, Set<String> excluded, List<String> candidates) {
      long weight = useTokens ? elements(request).length : 1;
      return answer(leastLoaded(candidates), weight, Reason.LOAD, false);
    }
  }

  static final class Conversation extends WorkerOracle {
    private final ConversationRouterOptions options;

    /** Least recently used first. */
    private final List<Known> sessions = new ArrayList<>();

    private int madeUp;

    private record Known(String id, String worker, List<List<Integer>> beginnings) {}

    Conversation(ConversationRouterOptions options) {
      this.options = options;
    }

    @Override
    void forget(String worker) {
      sessions.removeIf(session -> session.worker().equals(worker));
    }

    @Override
    Answer choose(FleetRequest request, Set<String> excluded, List<String> candidates) {
      String id = request.conversationId();
      return id != null ? explicit(request, id, candidates) : implicit(request, candidates, madeUp);
    }

    private Answer explicit(FleetRequest request, String id, List<String> candidates) {
      Known known =
          sessions.stream().filter(session -> session.id().equals(id)).findFirst().orElse(null);
      sessions.remove(known);
      boolean sticky = known != null && candidates.contains(known.worker());
      String worker = sticky ? known.worker() : leastLoaded(candidates);
      keep(sticky ? known : new Known(id, worker, List.of()));
      return answer(
          worker,
          Math.max(1, elements(request).length),
          sticky ? Reason.STICKY : Reason.FALLBACK,
          known == null);
    }

    private Answer implicit(FleetRequest request, List<String> candidates, int made) {
      int[] all = elements(request);
      int skipped = Math.min(all.length, options.hashSkipCount());
      List<List<Integer>> beginnings =
          beginnings(Arrays.copyOfRange(all, skipped, all.length), options.tokensPerBlock());
      Known best = null;
      int deepest = 0;
      for (Known session : sessions) {
        int depth = 0;
        while (depth < beginnings.size() && session.beginnings().contains(beginnings.get(depth))) {
          depth++;
        }
        if (candidates.contains(session.worker()) && depth > 0 && depth >= deepest) {
          best = session;
          deepest = depth;
        }
      }
      boolean enough =
          best != null && deepest >= options.matchThreshold() * beginnings.size() - 1e-12;
      String worker = enough ? best.worker() : leastLoaded(candidates);
      sessions.remove(enough ? best : null);
      madeUp = enough ? made : made + 1;
      keep(new Known(enough ? best.id() : "made up " + madeUp, worker, beginnings));
      long weight =
          beginnings.isEmpty()
              ? Math.max(1, all.length)
              : (long) beginnings.size() * options.tokensPerBlock();
      return answer(worker, weight, enough ? Reason.IMPLICIT : Reason.FALLBACK, false);
    }

    private void keep(Known session) {
      sessions.add(session);
      if (sessions.size() > options.maxSessions()) {
        sessions.remove(0);
      }
    }
  }

  static final class KvCacheAware extends WorkerOracle {
    private final KvCacheAwareRouterOptions options;
    private final Map<String, Set<List<Integer>>> held = new TreeMap<>();
    private final Map<String, String> pins = new HashMap<>();

    /** Least recently used first. */
    private final List<String> seen = new ArrayList<>();

    KvCacheAware(KvCacheAwareRouterOptions options) {
      this.options = options;
    }

    @Override
    void forget(String worker) {
      held.remove(worker);
      pins.values().removeIf(worker::equals);
    }

    @Override
    void learn(Answer answer) {
      if (options.trackRoutedBlocks()) {
        held(answer.worker()).addAll(answer.beginnings());
      }
    }

    @Override
    long[] tell(String worker, int[] prompt, boolean removed) {
      List<List<Integer>> told = beginnings(prompt, options.tokensPerBlock());
      if (removed) {
        told.forEach(held(worker)::remove);
      } else {
        held(worker).addAll(told);
      }
      return TrtllmHash.V1_BLOCK_KEY.keys(prompt, options.tokensPerBlock(), CacheScope.NONE);
    }

    private Set<List<Integer>> held(String worker) {
      return held.computeIfAbsent(worker, name -> new HashSet<>());
    }

    @Override
    Answer choose(FleetRequest request, Set<String> excluded, List<String> candidates) {
      List<List<Integer>> beginnings = beginnings(elements(request), options.tokensPerBlock());
      Map<String, Integer> blocks = new HashMap<>();
      Map<String, Long> matches = new HashMap<>();
      for (String worker : candidates) {
        int depth = 0;
        while (depth < beginnings.size() && held(worker).contains(beginnings.get(depth))) {
          depth++;
        }
        blocks.put(worker, depth);
        matches.put(worker, (long) depth * options.tokensPerBlock());
      }
      List<String> below =
          candidates.stream()
              .filter(s -> (double) loads.get(s) / options.maxBatchSize() < options.loadCap())
              .toList();
      List<String> allowed = below.isEmpty() ? candidates : below;
      boolean chat = request.prompt() instanceof Prompt.Chat;
      String pinned = chat ? pins.get(request.prompt().text()) : null;
      boolean stay = pinned != null && allowed.contains(pinned);
      String worker = stay ? pinned : best(allowed, blocks);
      turn += stay ? 1 : 0;
      if (chat) {
        pins.put(request.prompt().text(), worker);
      }
      boolean first = firstTurn(request.conversationId());
      Answer plain = answer(worker, 1, stay ? Reason.PINNED : Reason.SCORE, first);
      return new Answer(worker, plain.generation(), 1, plain.reason(), first, matches, beginnings);
    }

    private String best(List<String> allowed, Map<String, Integer> blocks) {
      Map<String, Double> scores = new HashMap<>();
      allowed.forEach(s -> scores.put(s, blocks.get(s) - options.loadWeight() * loads.get(s)));
      double best = allowed.stream().mapToDouble(scores::get).max().orElseThrow();
      return byTurns(allowed.stream().filter(s -> scores.get(s) == best).toList());
    }

    private boolean firstTurn(String id) {
      if (id == null) {
        return false;
      }
      boolean known = seen.remove(id);
      seen.add(id);
      if (seen.size() > options.maxSessions()) {
        seen.remove(0);
      }
      return !known;
    }
  }
}
