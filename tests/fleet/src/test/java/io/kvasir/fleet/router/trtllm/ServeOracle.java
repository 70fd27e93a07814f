package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
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

/** The routers' rules written plainly over lists; beginnings are compared, never hashed. */
abstract class ServeOracle {

  /** An expected choice. */
  record Answer(
      String server,
      int generation,
      long weight,
      ServeReason reason,
      boolean firstTurn,
      Map<String, Long> matches,
      List<List<Integer>> beginnings) {}

  final List<String> servers = new ArrayList<>();
  final Map<String, Long> loads = new HashMap<>();
  private final Map<String, Integer> generations = new HashMap<>();
  int turn;

  boolean add(String server) {
    if (servers.contains(server)) {
      return false;
    }
    servers.add(server);
    loads.put(server, 0L);
    generations.merge(server, 1, Integer::sum);
    return true;
  }

  boolean remove(String server) {
    loads.remove(server);
    forget(server);
    return servers.remove(server);
  }

  long load(String server) {
    return loads.getOrDefault(server, 0L);
  }

  Answer next(ServeRequest request, String excluded) {
    List<String> candidates = new ArrayList<>(servers);
    candidates.remove(excluded);
    if (candidates.isEmpty()) {
      return null;
    }
    Answer answer = choose(request, excluded, candidates);
    loads.merge(answer.server(), answer.weight(), Long::sum);
    return answer;
  }

  void finish(Answer answer, boolean success) {
    if (servers.contains(answer.server())
        && generations.get(answer.server()) == answer.generation()) {
      loads.merge(answer.server(), -answer.weight(), Long::sum);
      if (success) {
        learn(answer);
      }
    }
  }

  abstract Answer choose(ServeRequest request, String excluded, List<String> candidates);

  void forget(String server) {}

  void learn(Answer answer) {}

  long[] tell(String server, int[] prompt, boolean removed) {
    return new long[0];
  }

  Answer answer(String server, long weight, ServeReason reason, boolean firstTurn) {
    return new Answer(
        server, generations.get(server), weight, reason, firstTurn, Map.of(), List.of());
  }

  String byTurns(List<String> tied) {
    return tied.get(turn++ % tied.size());
  }

  String leastLoaded(List<String> candidates) {
    long least = candidates.stream().mapToLong(loads::get).min().orElseThrow();
    return byTurns(candidates.stream().filter(s -> loads.get(s) == least).toList());
  }

  /** The whole beginnings that end with each block; the last token is left out. */
  static List<List<Integer>> beginnings(int[] elements, int tokensPerBlock) {
    List<Integer> all = IntStream.of(elements).boxed().collect(Collectors.toList());
    List<List<Integer>> beginnings = new ArrayList<>();
    for (int end = 0; end < all.size() - 1; ) {
      end = Math.min(end + tokensPerBlock, all.size() - 1);
      beginnings.add(all.subList(0, end));
    }
    return beginnings;
  }

  static int[] elements(ServeRequest request) {
    return request.prompt() instanceof Prompt.Tokens tokens
        ? tokens.sequences().get(0)
        : request.prompt().text().codePoints().toArray();
  }

  static final class RoundRobin extends ServeOracle {
    @Override
    Answer choose(ServeRequest request, String excluded, List<String> candidates) {
      String server = byTurns(servers);
      if (server.equals(excluded)) {
        server = byTurns(servers);
      }
      return answer(server, 1, ServeReason.ROUND_ROBIN, false);
    }
  }

  static final class LoadBalancing extends ServeOracle {
    private final boolean useTokens;

    LoadBalancing(boolean useTokens) {
      this.useTokens = useTokens;
    }

    @Override
    Answer choose(ServeRequest request, String excluded, List<String> candidates) {
      long weight = useTokens ? elements(request).length : 1;
      return answer(leastLoaded(candidates), weight, ServeReason.LOAD, false);
    }
  }

  static final class Conversation extends ServeOracle {
    private final ConversationRouterOptions options;

    /** Least recently used first. */
    private final List<Known> sessions = new ArrayList<>();

    private int madeUp;

    private record Known(String id, String server, List<List<Integer>> beginnings) {}

    Conversation(ConversationRouterOptions options) {
      this.options = options;
    }

    @Override
    void forget(String server) {
      sessions.removeIf(session -> session.server().equals(server));
    }

    @Override
    Answer choose(ServeRequest request, String excluded, List<String> candidates) {
      String id = request.conversationId();
      return id != null ? explicit(request, id, candidates) : implicit(request, candidates, madeUp);
    }

    private Answer explicit(ServeRequest request, String id, List<String> candidates) {
      Known known =
          sessions.stream().filter(session -> session.id().equals(id)).findFirst().orElse(null);
      sessions.remove(known);
      boolean sticky = known != null && candidates.contains(known.server());
      String server = sticky ? known.server() : leastLoaded(candidates);
      keep(sticky ? known : new Known(id, server, List.of()));
      return answer(
          server,
          Math.max(1, elements(request).length),
          sticky ? ServeReason.STICKY : ServeReason.FALLBACK,
          known == null);
    }

    private Answer implicit(ServeRequest request, List<String> candidates, int made) {
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
        if (candidates.contains(session.server()) && depth > 0 && depth >= deepest) {
          best = session;
          deepest = depth;
        }
      }
      boolean enough =
          best != null && deepest >= options.matchThreshold() * beginnings.size() - 1e-12;
      String server = enough ? best.server() : leastLoaded(candidates);
      sessions.remove(enough ? best : null);
      madeUp = enough ? made : made + 1;
      keep(new Known(enough ? best.id() : "made up " + madeUp, server, beginnings));
      long weight =
          beginnings.isEmpty()
              ? Math.max(1, all.length)
              : (long) beginnings.size() * options.tokensPerBlock();
      return answer(server, weight, enough ? ServeReason.IMPLICIT : ServeReason.FALLBACK, false);
    }

    private void keep(Known session) {
      sessions.add(session);
      if (sessions.size() > options.maxSessions()) {
        sessions.remove(0);
      }
    }
  }

  static final class KvCacheAware extends ServeOracle {
    private final KvCacheAwareRouterOptions options;
    private final Map<String, Set<List<Integer>>> held = new TreeMap<>();
    private final Map<String, String> pins = new HashMap<>();

    /** Least recently used first. */
    private final List<String> seen = new ArrayList<>();

    KvCacheAware(KvCacheAwareRouterOptions options) {
      this.options = options;
    }

    @Override
    void forget(String server) {
      held.remove(server);
      pins.values().removeIf(server::equals);
    }

    @Override
    void learn(Answer answer) {
      if (options.trackRoutedBlocks()) {
        held(answer.server()).addAll(answer.beginnings());
      }
    }

    @Override
    long[] tell(String server, int[] prompt, boolean removed) {
      List<List<Integer>> told = beginnings(prompt, options.tokensPerBlock());
      if (removed) {
        told.forEach(held(server)::remove);
      } else {
        held(server).addAll(told);
      }
      return TrtllmHash.V1_BLOCK_KEY.keys(prompt, options.tokensPerBlock(), CacheScope.NONE);
    }

    private Set<List<Integer>> held(String server) {
      return held.computeIfAbsent(server, name -> new HashSet<>());
    }

    @Override
    Answer choose(ServeRequest request, String excluded, List<String> candidates) {
      List<List<Integer>> beginnings = beginnings(elements(request), options.tokensPerBlock());
      Map<String, Integer> blocks = new HashMap<>();
      Map<String, Long> matches = new HashMap<>();
      for (String server : candidates) {
        int depth = 0;
        while (depth < beginnings.size() && held(server).contains(beginnings.get(depth))) {
          depth++;
        }
        blocks.put(server, depth);
        matches.put(server, (long) depth * options.tokensPerBlock());
      }
      List<String> below =
          candidates.stream()
              .filter(s -> (double) loads.get(s) / options.maxBatchSize() < options.loadCap())
              .toList();
      List<String> allowed = below.isEmpty() ? candidates : below;
      boolean chat = request.prompt() instanceof Prompt.Chat;
      String pinned = chat ? pins.get(request.prompt().text()) : null;
      boolean stay = pinned != null && allowed.contains(pinned);
      String server = stay ? pinned : best(allowed, blocks);
      if (chat) {
        pins.put(request.prompt().text(), server);
      }
      boolean first = firstTurn(request.conversationId());
      Answer plain = answer(server, 1, stay ? ServeReason.PINNED : ServeReason.SCORE, first);
      return new Answer(server, plain.generation(), 1, plain.reason(), first, matches, beginnings);
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
