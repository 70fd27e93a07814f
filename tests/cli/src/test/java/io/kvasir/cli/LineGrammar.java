package io.kvasir.cli;

import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Generates operations of {@code kvasir route} and {@code kvasir index}, most of them valid. */
final class LineGrammar {

  private static final int IDS = 6;
  private static final int BLOCK = 2;

  private final Random random;
  private long nowMs;
  private long event;

  LineGrammar(Random random) {
    this.random = random;
  }

  private int below(int bound) {
    return random.nextInt(bound);
  }

  private boolean chance(double share) {
    return random.nextDouble() < share;
  }

  @SafeVarargs
  private <T> T one(T... choices) {
    return choices[below(choices.length)];
  }

  private <T> List<T> list(int most, Supplier<T> each) {
    List<T> list = new ArrayList<>();
    for (int n = below(most + 1); n > 0; n--) {
      list.add(each.get());
    }
    return list;
  }

  /** Prompts share prefixes, so that they match. */
  private List<Integer> tokens() {
    List<Integer> tokens = new ArrayList<>();
    for (int length = below(12), first = below(3); tokens.size() < length; ) {
      tokens.add(first + tokens.size());
    }
    return tokens;
  }

  private static Map<String, Object> op(String op) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("op", op);
    return line;
  }

  private void maybe(Map<String, Object> object, String field, Supplier<Object> value) {
    if (chance(0.4)) {
      object.put(field, value.get());
    }
  }

  private String server() {
    return "s" + below(3);
  }

  Map<String, Object> configureRoute(boolean fleet) {
    Map<String, Object> line = op("configure");
    Map<String, Object> settings = new LinkedHashMap<>();
    if (fleet) {
      String router =
          one(
              "round_robin",
              "load_balancing",
              "kv_cache_aware",
              "kv_cache_aware",
              "conversation",
              "cost");
      line.put("router", router);
      line.put("servers", List.of("s0", server(), server()));
      line.put("args", settings);
      if (router.equals("kv_cache_aware") || router.equals("conversation")) {
        settings.put("tokens_per_block", one(1, BLOCK, BLOCK, BLOCK));
        maybe(settings, "max_sessions", () -> 1 + below(3));
      } else if (router.equals("load_balancing")) {
        maybe(settings, "use_tokens", () -> chance(0.5));
      }
      return line;
    }
    line.put("router", one("default", "kv_cache_aware", "conversation", "projected"));
    line.put("ranks", 2);
    maybe(line, "maxActiveRequests", () -> 1 + below(6));
    maybe(line, "tokensPerBlock", () -> 1 + below(8));
    maybe(line, "capacityPolicy", () -> one("guaranteed_no_evict", "max_utilization"));
    maybe(settings, "kv_cache_routing_cold_start_warmup", () -> chance(0.5));
    maybe(settings, "kv_cache_routing_first_turn_round_robin", () -> chance(0.5));
    maybe(settings, "dkv_token_load", () -> chance(0.5));
    maybe(settings, "kv_cache_routing_max_sessions", () -> 1 + below(3));
    maybe(settings, "kv_cache_routing_load_balance_weight", () -> random.nextDouble());
    maybe(
        settings,
        "kv_cache_routing_new_conv_placement",
        () -> one("round_robin", "least_queued", "least_tokens"));
    line.put("attention_dp_config", settings);
    return line;
  }

  /** Any fleet policy, by the one dialect. */
  Map<String, Object> configureFleet() {
    Map<String, Object> line = op("configure");
    String policy =
        one("projected", "cost", "approximate", "polled", "conversation", "load_balancing");
    line.put("fleetRouter", policy);
    maybe(line, "tokensPerBlock", () -> BLOCK);
    maybe(line, "hash", () -> one("kvasir", "dynamo"));
    if (policy.equals("cost") || policy.equals("projected")) {
      line.put("args", Map.of("explain", chance(0.5), "router_queue_threshold", 1));
    }
    return line;
  }

  Map<String, Object> fleet() {
    if (chance(0.02)) {
      return configureFleet();
    }
    String op =
        one(
            "route",
            "route",
            "route",
            "tokens",
            "tokens",
            "finish",
            "event",
            "event",
            "add_rank",
            "add_rank",
            "remove_rank",
            "explain");
    Map<String, Object> line = op(op);
    line.put("nowMs", nowMs += below(50));
    switch (op) {
      case "route", "explain" -> {
        select(line);
        maybe(line, "ttftMs", () -> 1 + below(500));
        maybe(line, "streams", () -> chance(0.5));
      }
      case "tokens" -> {
        line.put("id", below(IDS));
        line.put(one("count", "count", "tokens"), 0);
        line.computeIfPresent("tokens", (field, unused) -> tokens());
        line.computeIfPresent("count", (field, unused) -> below(4));
        maybe(line, "prefillDone", () -> chance(0.5));
      }
      case "finish" -> line.put("id", below(IDS));
      case "event" -> {
        rank(line);
        line.put("eventId", ++event);
        line.put(
            "data",
            chance(0.7)
                ? change()
                : one(
                    Map.of("step", Map.of("durationMs", below(90), "prefillTokens", below(9))),
                    Map.of("metrics", Map.of("activeBlocks", below(9))),
                    Map.of("snapshot", list(2, () -> storedChange().get("stored")))));
      }
      default -> {
        rank(line);
        if (op.equals("add_rank")) {
          maybe(line, "maxNumBatchedTokens", () -> 1 + below(20));
        }
      }
    }
    return line;
  }

  Map<String, Object> route(boolean fleet) {
    if (chance(0.04)) {
      return configureRoute(fleet);
    }
    if (chance(0.1)) {
      return pop();
    }
    return fleet ? fleetOperation() : adpRoute();
  }

  private Map<String, Object> request(int index) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("id", index);
    if (chance(0.5)) {
      request.put("inputTokens", tokens());
    } else {
      maybe(request, "inputLength", () -> below(200));
    }
    maybe(request, "maxNewTokens", () -> 1 + below(50));
    maybe(request, "targetRank", () -> below(2));
    maybe(request, "relax", () -> chance(0.5));
    maybe(request, "conversationId", () -> "c" + below(5));
    maybe(request, "subagentAffinityId", () -> "c" + below(5));
    maybe(request, "firstTurn", () -> chance(0.5));
    maybe(request, "children", () -> below(3));
    maybe(request, "priority", () -> random.nextDouble());
    return request;
  }

  private Map<String, Object> state() {
    Map<String, Object> state = new LinkedHashMap<>();
    for (String field :
        List.of(
            "activeRequests",
            "activeTokens",
            "retiringRequests",
            "inTransferRequests",
            "queuedBlocks",
            "freeBlocks",
            "cachedBlocks",
            "activeBlocks",
            "prefillRequests",
            "prefillTokens",
            "attendedPairs",
            "decodingRequests",
            "decodeKvTokens")) {
      maybe(state, field, () -> below(20));
    }
    maybe(state, "tick", () -> ++event);
    return state;
  }

  private Map<String, Object> adpRoute() {
    Map<String, Object> line = op("route");
    maybe(line, "states", () -> List.of(state(), state()));
    int[] next = {below(100)};
    line.put("requests", list(5, () -> request(next[0]++)));
    maybe(line, "matches", () -> list(2, () -> Map.of(Integer.toString(below(100)), below(20))));
    return line;
  }

  private Map<String, Object> pop() {
    Map<String, Object> line = op("pop");
    line.put("maxCount", below(4));
    maybe(line, "maxActiveRequests", () -> below(4));
    maybe(line, "activeRequests", () -> List.of(below(4), below(4)));
    maybe(line, "policy", () -> one("fcfs", "priority"));
    int[] next = {0};
    line.put("queue", list(5, () -> request(next[0]++)));
    return line;
  }

  private Map<String, Object> fleetOperation() {
    Map<String, Object> line =
        op(
            one(
                "next",
                "next",
                "next",
                "finish",
                "finish",
                "events",
                "events",
                "prepare",
                "add_server",
                "remove_server"));
    switch ((String) line.get("op")) {
      case "next" -> {
        line.put("id", below(IDS));
        Supplier<Object> message = () -> Map.of("role", "user", "content", "m" + below(3));
        int kind = below(3);
        line.put(
            List.of("prompt", "inputTokens", "messages").get(kind),
            kind == 0 ? "text " + tokens() : kind == 1 ? tokens() : list(3, message));
        maybe(line, "conversationId", () -> "c" + below(4));
        maybe(line, "subagentAffinityId", () -> "c" + below(4));
        maybe(line, "exclude", this::server);
        maybe(line, "generationOnly", () -> chance(0.3));
        if (chance(0.2)) {
          maybe(line, "loraTaskId", () -> below(3));
          maybe(line, "salt", () -> one("a", "b"));
        }
      }
      case "finish" -> {
        line.put("id", below(IDS));
        maybe(line, "success", () -> chance(0.7));
      }
      case "events" -> {
        line.put("server", server());
        line.put("events", list(3, this::cacheEvent));
      }
      case "prepare" -> {
        line.put("server", server());
        maybe(line, "tokensPerBlock", () -> one(1, 2, 3, 4));
        maybe(line, "hashAlgo", () -> one("auto", "v1_block_key", "v2_sha256", "md5"));
      }
      default -> line.put("server", server());
    }
    return line;
  }

  /** The hashes of a prompt's blocks, so that events match prompts. */
  private static List<BigInteger> handles(List<Integer> tokens) {
    int[] prompt = tokens.stream().mapToInt(Integer::intValue).toArray();
    return LongStream.of(TrtllmHash.V1_BLOCK_KEY.keys(prompt, BLOCK, CacheScope.NONE))
        .mapToObj(key -> new BigInteger(Long.toUnsignedString(key)))
        .toList();
  }

  private Object cacheEvent() {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("type", one("stored", "stored", "removed", "created"));
    List<BigInteger> handles = handles(tokens());
    if (data.get("type").equals("removed")) {
      data.put("block_hashes", handles);
    } else {
      maybe(data, "parent_hash", () -> below(9));
      data.put("blocks", handles.stream().map(handle -> Map.of("block_hash", handle)).toList());
    }
    maybe(data, "hash_algo", () -> one("v1_block_key", "v1_block_key", "v2_sha256_64"));
    return chance(0.5) ? data : Map.of("event_id", below(9), "data", data);
  }

  Map<String, Object> configureIndex() {
    Map<String, Object> line = op("configure");
    line.put("tokensPerBlock", BLOCK);
    maybe(line, "hash", () -> one("kvasir", "dynamo"));
    maybe(line, "explain", () -> true);
    maybe(line, "trackOutputBlocks", () -> chance(0.5));
    Map<String, Object> args = new LinkedHashMap<>();
    maybe(args, "router_queue_threshold", () -> 1);
    maybe(args, "router_temperature", () -> random.nextDouble());
    line.put("args", args);
    return line;
  }

  /** Sets the time, so that answers do not depend on the system's clock. */
  Map<String, Object> poll() {
    Map<String, Object> line = op("poll");
    line.put("nowMs", nowMs += below(5));
    return line;
  }

  Map<String, Object> index() {
    String op =
        one(
            "event",
            "event",
            "event",
            "select",
            "select",
            "predict",
            "predict",
            "predict",
            "match",
            "stats",
            "snapshot",
            "add_rank",
            "remove_worker",
            "poll",
            "configure");
    if (op.equals("poll") || op.equals("configure")) {
      return op.equals("poll") || !chance(0.2) ? poll() : configureIndex();
    }
    Map<String, Object> line = op(op);
    switch (op) {
      case "event", "snapshot" -> {
        rank(line);
        line.put("eventId", ++event);
        line.put("data", op.equals("event") ? change() : list(2, this::storedChange));
      }
      case "remove_worker" -> line.put("worker", below(3));
      case "add_rank" -> {
        rank(line);
        maybe(line, "totalKvBlocks", () -> below(40));
        maybe(line, "maxNumBatchedTokens", () -> 1 + below(20));
      }
      case "match" -> line.put("tokens", tokens());
      case "select" -> select(line);
      case "predict" -> predict(line);
      default -> {}
    }
    if (!List.of("event", "snapshot", "remove_worker", "match", "stats").contains(op)) {
      maybe(line, "nowMs", () -> nowMs += below(5));
    }
    return line;
  }

  private void rank(Map<String, Object> line) {
    line.put("worker", below(3));
    maybe(line, "dpRank", () -> below(2));
  }

  private Map<String, Object> change() {
    return switch (below(6)) {
      case 0 -> Map.of("cleared", Map.of());
      case 1 -> Map.of("removed", Map.of("blockHashes", list(3, () -> below(9))));
      default -> storedChange();
    };
  }

  private Map<String, Object> storedChange() {
    Map<String, Object> stored = new LinkedHashMap<>();
    maybe(stored, "parentHash", () -> below(9));
    int[] at = {below(3)};
    stored.put(
        "blocks",
        list(
            3,
            () -> {
              at[0] += BLOCK;
              return Map.of("blockHash", at[0], "tokens", List.of(at[0] - BLOCK, at[0] - 1));
            }));
    return Map.of("stored", stored);
  }

  private void select(Map<String, Object> line) {
    line.put("id", below(IDS));
    if (chance(0.7)) {
      line.put("tokens", tokens());
    } else {
      line.put("sequenceHashes", list(3, () -> random.nextLong()));
      line.put("inputTokens", 3 * BLOCK + below(9));
    }
    maybe(line, "exclude", () -> list(2, () -> Map.of("worker", below(3))));
    maybe(line, "allowedWorkers", () -> List.of(0, below(3)));
    if (chance(0.2)) {
      line.put("pinnedWorker", below(3));
      maybe(line, "pinnedRank", () -> below(2));
    }
    maybe(line, "expectedOutputTokens", () -> below(50));
    maybe(line, "strictPriority", () -> below(3));
    maybe(line, "priorityJump", () -> random.nextDouble());
    maybe(line, "overrides", () -> Map.of("temperature", random.nextDouble()));
  }

  private void predict(Map<String, Object> line) {
    String action = one("add", "push", "push", "prefillDone", "free", "potential");
    line.put("action", action);
    if (!action.equals("potential")) {
      line.put("id", below(IDS));
    }
    if (action.equals("add")) {
      rank(line);
    }
    if (List.of("add", "push", "potential").contains(action)) {
      line.put("tokens", tokens());
    }
  }
}
