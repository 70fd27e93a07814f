package io.kvasir.cli;

import static io.kvasir.cli.LineParts.BLOCK;
import static io.kvasir.cli.LineParts.IDS;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Generates operations of the one dialect of all fleet policies, and of {@code kvasir index}. */
final class RandomFleetLines {

  private final LineParts parts;

  RandomFleetLines(LineParts parts) {
    this.parts = parts;
  }

  /** Any fleet policy, by the one dialect. */
  Map<String, Object> configureFleet() {
    Map<String, Object> line = LineParts.op("configure");
    String policy =
        parts.one("projected", "cost", "approximate", "polled", "conversation", "load_balancing");
    line.put("fleetRouter", policy);
    parts.maybe(line, "tokensPerBlock", () -> BLOCK);
    parts.maybe(line, "hash", () -> parts.one("kvasir", "dynamo"));
    if (policy.equals("cost") || policy.equals("projected")) {
      line.put("args", Map.of("explain", parts.chance(0.5), "router_queue_threshold", 1));
    }
    return line;
  }

  Map<String, Object> fleet() {
    if (parts.chance(0.02)) {
      return configureFleet();
    }
    String op =
        parts.one(
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
    Map<String, Object> line = LineParts.op(op);
    line.put("nowMs", parts.later(50));
    switch (op) {
      case "route", "explain" -> {
        parts.select(line);
        parts.maybe(line, "ttftMs", () -> 1 + parts.below(500));
        parts.maybe(line, "streams", () -> parts.chance(0.5));
      }
      case "tokens" -> {
        line.put("id", parts.below(IDS));
        line.put(parts.one("count", "count", "tokens"), 0);
        line.computeIfPresent("tokens", (field, unused) -> parts.tokens());
        line.computeIfPresent("count", (field, unused) -> parts.below(4));
        parts.maybe(line, "prefillDone", () -> parts.chance(0.5));
      }
      case "finish" -> line.put("id", parts.below(IDS));
      case "event" -> {
        parts.rank(line);
        line.put("eventId", parts.nextEvent());
        line.put(
            "data",
            parts.chance(0.7)
                ? parts.change()
                : parts.one(
                    Map.of(
                        "step",
                        Map.of("durationMs", parts.below(90), "prefillTokens", parts.below(9))),
                    Map.of("metrics", Map.of("activeBlocks", parts.below(9))),
                    Map.of("snapshot", parts.list(2, () -> parts.storedChange().get("stored")))));
      }
      default -> {
        parts.rank(line);
        if (op.equals("add_rank")) {
          parts.maybe(line, "maxNumBatchedTokens", () -> 1 + parts.below(20));
        }
      }
    }
    return line;
  }

  Map<String, Object> configureIndex() {
    Map<String, Object> line = LineParts.op("configure");
    line.put("tokensPerBlock", BLOCK);
    parts.maybe(line, "hash", () -> parts.one("kvasir", "dynamo"));
    parts.maybe(line, "explain", () -> true);
    parts.maybe(line, "trackOutputBlocks", () -> parts.chance(0.5));
    Map<String, Object> args = new LinkedHashMap<>();
    parts.maybe(args, "router_queue_threshold", () -> 1);
    parts.maybe(args, "router_temperature", () -> parts.random.nextDouble());
    line.put("args", args);
    return line;
  }

  /** Sets the time, so that answers do not depend on the system's clock. */
  Map<String, Object> poll() {
    Map<String, Object> line = LineParts.op("poll");
    line.put("nowMs", parts.later(5));
    return line;
  }

  Map<String, Object> index() {
    String op =
        parts.one(
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
      return op.equals("poll") || !parts.chance(0.2) ? poll() : configureIndex();
    }
    Map<String, Object> line = LineParts.op(op);
    switch (op) {
      case "event", "snapshot" -> {
        parts.rank(line);
        line.put("eventId", parts.nextEvent());
        line.put("data", op.equals("event") ? parts.change() : parts.list(2, parts::storedChange));
      }
      case "remove_worker" -> line.put("worker", parts.below(3));
      case "add_rank" -> {
        parts.rank(line);
        parts.maybe(line, "totalKvBlocks", () -> parts.below(40));
        parts.maybe(line, "maxNumBatchedTokens", () -> 1 + parts.below(20));
      }
      case "match" -> line.put("tokens", parts.tokens());
      case "select" -> parts.select(line);
      case "predict" -> predict(line);
      default -> {}
    }
    if (!List.of("event", "snapshot", "remove_worker", "match", "stats").contains(op)) {
      parts.maybe(line, "nowMs", () -> parts.later(5));
    }
    return line;
  }

  private void predict(Map<String, Object> line) {
    String action = parts.one("add", "push", "push", "prefillDone", "free", "potential");
    line.put("action", action);
    if (!action.equals("potential")) {
      line.put("id", parts.below(IDS));
    }
    if (action.equals("add")) {
      parts.rank(line);
    }
    if (List.of("add", "push", "potential").contains(action)) {
      line.put("tokens", parts.tokens());
    }
  }
}
