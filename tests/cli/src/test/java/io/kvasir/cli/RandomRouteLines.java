package io.kvasir.cli;

import static io.kvasir.cli.LineParts.BLOCK;
import static io.kvasir.cli.LineParts.IDS;

import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Generates operations of {@code kvasir route}, for ranks and for servers. */
final class RandomRouteLines {

  private final LineParts parts;

  RandomRouteLines(LineParts parts) {
    this.parts = parts;
  }

  Map<String, Object> configureRoute(boolean fleet) {
    Map<String, Object> line = LineParts.op("configure");
    Map<String, Object> settings = new LinkedHashMap<>();
    if (fleet) {
      String router =
          parts.one(
              "round_robin",
              "load_balancing",
              "kv_cache_aware",
              "kv_cache_aware",
              "conversation",
              "cost");
      line.put("router", router);
      line.put("servers", List.of("s0", parts.server(), parts.server()));
      line.put("args", settings);
      if (router.equals("kv_cache_aware") || router.equals("conversation")) {
        settings.put("tokens_per_block", parts.one(1, BLOCK, BLOCK, BLOCK));
        parts.maybe(settings, "max_sessions", () -> 1 + parts.below(3));
      } else if (router.equals("load_balancing")) {
        parts.maybe(settings, "use_tokens", () -> parts.chance(0.5));
      }
      return line;
    }
    line.put("router", parts.one("default", "kv_cache_aware", "conversation", "projected"));
    line.put("ranks", 2);
    parts.maybe(line, "maxActiveRequests", () -> 1 + parts.below(6));
    parts.maybe(line, "tokensPerBlock", () -> 1 + parts.below(8));
    parts.maybe(line, "capacityPolicy", () -> parts.one("guaranteed_no_evict", "max_utilization"));
    parts.maybe(settings, "kv_cache_routing_cold_start_warmup", () -> parts.chance(0.5));
    parts.maybe(settings, "kv_cache_routing_first_turn_round_robin", () -> parts.chance(0.5));
    parts.maybe(settings, "dkv_token_load", () -> parts.chance(0.5));
    parts.maybe(settings, "kv_cache_routing_max_sessions", () -> 1 + parts.below(3));
    parts.maybe(settings, "kv_cache_routing_load_balance_weight", () -> parts.random.nextDouble());
    parts.maybe(
        settings,
        "kv_cache_routing_new_conv_placement",
        () -> parts.one("round_robin", "least_queued", "least_tokens"));
    line.put("attention_dp_config", settings);
    return line;
  }

  Map<String, Object> route(boolean fleet) {
    if (parts.chance(0.04)) {
      return configureRoute(fleet);
    }
    if (parts.chance(0.1)) {
      return pop();
    }
    return fleet ? fleetOperation() : adpRoute();
  }

  private Map<String, Object> request(int index) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("id", index);
    if (parts.chance(0.5)) {
      request.put("inputTokens", parts.tokens());
    } else {
      parts.maybe(request, "inputLength", () -> parts.below(200));
    }
    parts.maybe(request, "maxNewTokens", () -> 1 + parts.below(50));
    parts.maybe(request, "targetRank", () -> parts.below(2));
    parts.maybe(request, "relax", () -> parts.chance(0.5));
    parts.maybe(request, "conversationId", () -> "c" + parts.below(5));
    parts.maybe(request, "subagentAffinityId", () -> "c" + parts.below(5));
    parts.maybe(request, "firstTurn", () -> parts.chance(0.5));
    parts.maybe(request, "children", () -> parts.below(3));
    parts.maybe(request, "priority", () -> parts.random.nextDouble());
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
      parts.maybe(state, field, () -> parts.below(20));
    }
    parts.maybe(state, "tick", () -> parts.nextEvent());
    return state;
  }

  private Map<String, Object> adpRoute() {
    Map<String, Object> line = LineParts.op("route");
    parts.maybe(line, "states", () -> List.of(state(), state()));
    int[] next = {parts.below(100)};
    line.put("requests", parts.list(5, () -> request(next[0]++)));
    parts.maybe(
        line,
        "matches",
        () -> parts.list(2, () -> Map.of(Integer.toString(parts.below(100)), parts.below(20))));
    return line;
  }

  private Map<String, Object> pop() {
    Map<String, Object> line = LineParts.op("pop");
    line.put("maxCount", parts.below(4));
    parts.maybe(line, "maxActiveRequests", () -> parts.below(4));
    parts.maybe(line, "activeRequests", () -> List.of(parts.below(4), parts.below(4)));
    parts.maybe(line, "policy", () -> parts.one("fcfs", "priority"));
    int[] next = {0};
    line.put("queue", parts.list(5, () -> request(next[0]++)));
    return line;
  }

  private Map<String, Object> fleetOperation() {
    Map<String, Object> line =
        LineParts.op(
            parts.one(
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
        line.put("id", parts.below(IDS));
        Supplier<Object> message = () -> Map.of("role", "user", "content", "m" + parts.below(3));
        int kind = parts.below(3);
        line.put(
            List.of("prompt", "inputTokens", "messages").get(kind),
            kind == 0
                ? "text " + parts.tokens()
                : kind == 1 ? parts.tokens() : parts.list(3, message));
        parts.maybe(line, "conversationId", () -> "c" + parts.below(4));
        parts.maybe(line, "subagentAffinityId", () -> "c" + parts.below(4));
        parts.maybe(line, "exclude", parts::server);
        parts.maybe(line, "generationOnly", () -> parts.chance(0.3));
        if (parts.chance(0.2)) {
          parts.maybe(line, "loraTaskId", () -> parts.below(3));
          parts.maybe(line, "salt", () -> parts.one("a", "b"));
        }
      }
      case "finish" -> {
        line.put("id", parts.below(IDS));
        parts.maybe(line, "success", () -> parts.chance(0.7));
      }
      case "events" -> {
        line.put("server", parts.server());
        line.put("events", parts.list(3, this::cacheEvent));
      }
      case "prepare" -> {
        line.put("server", parts.server());
        parts.maybe(line, "tokensPerBlock", () -> parts.one(1, 2, 3, 4));
        parts.maybe(line, "hashAlgo", () -> parts.one("auto", "v1_block_key", "v2_sha256", "md5"));
      }
      default -> line.put("server", parts.server());
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
    data.put("type", parts.one("stored", "stored", "removed", "created"));
    List<BigInteger> handles = handles(parts.tokens());
    if (data.get("type").equals("removed")) {
      data.put("block_hashes", handles);
    } else {
      parts.maybe(data, "parent_hash", () -> parts.below(9));
      data.put("blocks", handles.stream().map(handle -> Map.of("block_hash", handle)).toList());
    }
    parts.maybe(data, "hash_algo", () -> parts.one("v1_block_key", "v1_block_key", "v2_sha256_64"));
    return parts.chance(0.5) ? data : Map.of("event_id", parts.below(9), "data", data);
  }
}
