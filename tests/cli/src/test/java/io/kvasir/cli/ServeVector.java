package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A case of serve-routers.json, put as lines to {@code kvasir route}. */
final class ServeVector {

  private static final Set<String> OPERATIONS =
      Set.of("next", "finish", "add_server", "remove_server", "events", "prepare");

  /** What only a test inside the process can see is not asked. */
  private static final String LOADS = "loads";

  private ServeVector() {}

  /** Carries lines out. */
  interface Lines {
    List<JsonNode> answers(List<String> lines) throws IOException;
  }

  /** Cases that depend on an earlier answer are not. */
  static boolean isMadeOfOperations(JsonNode vector) {
    for (JsonNode step : vector.get("steps")) {
      String op = step.get("op").asText();
      if (!OPERATIONS.contains(op) && !op.equals(LOADS)) {
        return false;
      }
    }
    return true;
  }

  static void check(JsonNode vector, Lines route) throws IOException {
    ObjectNode configure = vector.get("configure").deepCopy();
    configure.put("op", "configure");
    List<String> lines = new ArrayList<>(List.of(configure.toString()));
    List<JsonNode> steps = new ArrayList<>();
    for (JsonNode step : vector.get("steps")) {
      for (int i = 0; i < step.path("repeat").asInt(1) && !isLoads(step); i++) {
        steps.add(step);
        lines.add(line(step, i).toString());
      }
    }
    List<JsonNode> answers = route.answers(lines);
    for (int i = 0; i < steps.size(); i++) {
      JsonNode step = steps.get(i);
      JsonNode answer = answers.get(i + 1);
      assertThat(answer.has("error")).as(step + " -> " + answer).isEqualTo(step.has("error"));
      if (step.has("expect")) {
        for (Map.Entry<String, JsonNode> field : step.get("expect").properties()) {
          JsonNode found =
              field.getKey().equals("server")
                  ? answer.get("server")
                  : answer.get("info").get(field.getKey());
          if (found != null) {
            assertThat(found).as(step + " -> " + answer).isEqualTo(field.getValue());
          }
        }
      }
    }
  }

  private static boolean isLoads(JsonNode step) {
    return step.get("op").asText().equals(LOADS);
  }

  /** A step as a line: without what is expected, runs written out, an id of its own if repeated. */
  private static ObjectNode line(JsonNode step, int repetition) {
    ObjectNode line = step.deepCopy();
    line.remove(List.of("expect", "error", "note", "repeat", "inputRuns", "promptRuns"));
    line.remove(List.of("ready", "believes"));
    if (line.has("hash")) {
      line.set("hashAlgo", line.remove("hash"));
    }
    if (repetition > 0) {
      line.put("id", 1_000_000L * repetition + step.get("id").asLong());
    }
    if (step.has("inputRuns")) {
      ArrayNode tokens = line.putArray("inputTokens");
      for (JsonNode run : step.get("inputRuns")) {
        for (int i = 0; i < run.get(1).asInt(); i++) {
          tokens.add(run.get(0));
        }
      }
    }
    if (step.has("promptRuns")) {
      StringBuilder prompt = new StringBuilder();
      for (JsonNode run : step.get("promptRuns")) {
        prompt.append(run.get(0).asText().repeat(run.get(1).asInt()));
      }
      line.put("prompt", prompt.toString());
    }
    return line;
  }
}
