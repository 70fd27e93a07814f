package io.kvasir.fleet.router.trtllm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The routers between TensorRT-LLM's servers, written from their rules alone and without regard to
 * speed. What they share: servers in the order in which they were added, requests in flight, and
 * whose turn it is among equals.
 */
abstract class ServeRules {

  /** A request as the rules see it; either {@code tokens} or {@code text} is the prompt. */
  @SuppressWarnings("ArrayRecordComponent") // compared by nothing
  record Ask(
      @Nullable String conversation,
      int @Nullable [] tokens,
      @Nullable String text,
      List<String> messages,
      long excluded) {

    /** Excludes no server. */
    static final long NONE = -1;

    boolean excludes(long server) {
      return excluded == server;
    }
  }

  /** A choice, as far as the router reports it. */
  record Answer(
      long server, long matchedTokens, @Nullable String conversation, boolean firstTurn) {}

  private record Flight(long server, long weight, Runnable served) {}

  /** Loads by server, in the order in which servers were added. */
  final Map<Long, Long> loads = new LinkedHashMap<>();

  private final Map<Long, Flight> flights = new HashMap<>();
  private long turns;

  /** The settings of the router, by their names. */
  Map<String, Object> args() {
    return Map.of();
  }

  /** Chooses a server; null if there is none. */
  abstract @Nullable Answer next(long id, Ask ask);

  void add(long server) {
    loads.put(server, 0L);
  }

  void remove(long server) {
    loads.remove(server);
    flights.values().removeIf(flight -> flight.server() == server);
  }

  final void finish(long id, boolean success) {
    Flight flight = flights.remove(id);
    if (flight != null) {
      loads.merge(flight.server(), -flight.weight(), Long::sum);
      if (success) {
        flight.served().run();
      }
    }
  }

  final void start(long id, long server, long weight, Runnable served) {
    loads.merge(server, weight, Long::sum);
    flights.put(id, new Flight(server, weight, served));
  }

  final List<Long> candidates(Ask ask) {
    return loads.keySet().stream().filter(server -> !ask.excludes(server)).toList();
  }

  /** The candidate of the lowest cost; equal ones take turns, and every choice is a turn. */
  final long cheapest(List<Long> candidates, ToDoubleFunction<Long> cost) {
    double lowest = candidates.stream().mapToDouble(cost).min().orElseThrow();
    List<Long> tied = new ArrayList<>();
    for (long candidate : candidates) {
      if (cost.applyAsDouble(candidate) == lowest) {
        tied.add(candidate);
      }
    }
    return tied.get((int) (turns++ % tied.size()));
  }

  /** One server after the other. */
  static final class RoundRobin extends ServeRules {
    private long index;

    @Override
    @Nullable Answer next(long id, Ask ask) {
      List<Long> servers = new ArrayList<>(loads.keySet());
      if (candidates(ask).isEmpty()) {
        return null;
      }
      long server = servers.get((int) (index++ % servers.size()));
      if (ask.excludes(server)) {
        server = servers.get((int) (index++ % servers.size()));
      }
      start(id, server, 1, () -> {});
      return new Answer(server, 0, null, false);
    }
  }

  /** The fewest requests, tokens or characters. */
  static final class LoadBalancing extends ServeRules {
    private final boolean useTokens;

    LoadBalancing(boolean useTokens) {
      this.useTokens = useTokens;
    }

    @Override
    Map<String, Object> args() {
      return Map.of("use_tokens", useTokens);
    }

    @Override
    @Nullable Answer next(long id, Ask ask) {
      List<Long> candidates = candidates(ask);
      boolean unknown = ask.tokens() == null && ask.text() == null;
      if (candidates.isEmpty() || (useTokens && unknown)) {
        return null;
      }
      long server = cheapest(candidates, loads::get);
      start(id, server, useTokens ? size(ask) : 1, () -> {});
      return new Answer(server, 0, null, false);
    }

    private static long size(Ask ask) {
      return ask.tokens() != null ? ask.tokens().length : ask.text().codePoints().count();
    }
  }

  /** TensorRT-LLM's first naming of blocks. */
  static long[] blockKeys(int[] tokens, int blockTokens) {
    int hashed = Math.max(tokens.length - 1, 0);
    List<Long> keys = new ArrayList<>();
    long parent = 0;
    for (int start = 0; start < hashed; start += blockTokens) {
      int end = Math.min(start + blockTokens, hashed);
      long key = (end - start) ^ (parent * 0xbf58476d1ce4e5b9L);
      for (int i = start; i < end; i++) {
        key ^= mixed(tokens[i]) + (key << 6) + (key >>> 2);
      }
      keys.add(key);
      parent = key;
    }
    return keys.stream().mapToLong(Long::longValue).toArray();
  }

  private static long mixed(int token) {
    int x = token;
    x = ((x >>> 16) ^ x) * 0x45d9f3b;
    x = ((x >>> 16) ^ x) * 0x45d9f3b;
    x = (x >>> 16) ^ x;
    return (x + 0x9e3779b9) & 0xffffffffL;
  }
}
