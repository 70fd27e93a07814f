package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A case of serve-routers.json, put as lines to {@code kvasir route}. */
final class ServeVector {

  private static final Set<String> OPERATIONS =
      Set.of("next", "finish", "add_server", "remove_server", "events");

  private ServeVector() {}

  /** Carries lines out. */
  interface Lines {
    List<JsonNode> answers(List<String> lines) throws IOException;
  }

  /** Cases with shorthands for long prompts, and with set-up of their own, are left to others. */
  static boolean isMadeOfOperations(JsonNode vector) {
    for (JsonNode step : vector.get("steps")) {
      if (!OPERATIONS.contains(step.get("op").asText())
          || step.has("repeat")
          || step.has("inputRuns")
          || step.has("promptRuns")) {
        return false;
      }
      if (step.has("loraTaskId") || step.has("salt") || step.has("promptTokenIds")) {
        return false;
      }
    }
    return true;
  }

  static void check(JsonNode vector, Lines route) throws IOException {
    ObjectNode configure = vector.get("configure").deepCopy();
    configure.put("op", "configure");
    List<String> lines = new ArrayList<>(List.of(configure.toString()));
    for (JsonNode step : vector.get("steps")) {
      ObjectNode line = step.deepCopy();
      line.remove(List.of("expect", "error", "note"));
      lines.add(line.toString());
    }
    List<JsonNode> answers = route.answers(lines);
    for (int i = 0; i < vector.get("steps").size(); i++) {
      JsonNode step = vector.get("steps").get(i);
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
}
