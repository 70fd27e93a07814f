package io.kvasir.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

/** Parts of operations, drawn at random, most of them valid. */
final class LineParts {

  static final int IDS = 6;
  static final int BLOCK = 2;

  final Random random;
  private long nowMs;
  private long event;

  LineParts(Random random) {
    this.random = random;
  }

  /** The time of the next operation, at most so much later than the last one's. */
  long later(int most) {
    nowMs += below(most);
    return nowMs;
  }

  long nextEvent() {
    return ++event;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  boolean chance(double share) {
    return random.nextDouble() < share;
  }

  @SafeVarargs
  final <T> T one(T... choices) {
    return choices[below(choices.length)];
  }

  <T> List<T> list(int most, Supplier<T> each) {
    List<T> list = new ArrayList<>();
    for (int n = below(most + 1); n > 0; n--) {
      list.add(each.get());
    }
    return list;
  }

  /** Prompts share prefixes, so that they match. */
  List<Integer> tokens() {
    List<Integer> tokens = new ArrayList<>();
    for (int length = below(12), first = below(3); tokens.size() < length; ) {
      tokens.add(first + tokens.size());
    }
    return tokens;
  }

  static Map<String, Object> op(String op) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("op", op);
    return line;
  }

  void maybe(Map<String, Object> object, String field, Supplier<Object> value) {
    if (chance(0.4)) {
      object.put(field, value.get());
    }
  }

  String server() {
    return "s" + below(3);
  }

  void rank(Map<String, Object> line) {
    line.put("worker", below(3));
    maybe(line, "dpRank", () -> below(2));
  }

  Map<String, Object> change() {
    return switch (below(6)) {
      case 0 -> Map.of("cleared", Map.of());
      case 1 -> Map.of("removed", Map.of("blockHashes", list(3, () -> below(9))));
      default -> storedChange();
    };
  }

  Map<String, Object> storedChange() {
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

  void select(Map<String, Object> line) {
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
}
