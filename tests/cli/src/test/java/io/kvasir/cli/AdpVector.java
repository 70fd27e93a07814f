package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A case of adp-routers.json, adp-conversation.json or waiting-queue.json, put as lines. */
final class AdpVector {

  private AdpVector() {}

  /** Lines have one state for each rank. */
  static boolean hasAllStates(JsonNode vector) {
    int ranks = vector.get("configure").get("ranks").asInt();
    for (JsonNode step : vector.get("steps")) {
      if (step.get("route").get("states").size() != ranks) {
        return false;
      }
    }
    return true;
  }

  static void check(JsonNode vector, ServeVector.Lines route) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(((ObjectNode) vector.get("configure").deepCopy()).put("op", "configure").toString());
    for (JsonNode step : vector.get("steps")) {
      lines.add(((ObjectNode) step.get("route").deepCopy()).put("op", "route").toString());
    }
    List<JsonNode> answers = route.answers(lines);
    for (int i = 0; i < vector.get("steps").size(); i++) {
      JsonNode expected = vector.get("steps").get(i).get("expected");
      ObjectNode answer = answers.get(i + 1).deepCopy();
      ObjectNode reasons = JsonNodeFactory.instance.objectNode();
      for (JsonNode decision : answer.path("decisions")) {
        reasons.set(decision.get("id").asText(), decision.get("reason"));
        answer.set("scores", decision.get("scores"));
      }
      answer.set("reasons", reasons);
      for (String field :
          List.of(
              "assigned",
              "expectedActiveRequests",
              "unassigned",
              "activeTokensAfter",
              "reasons",
              "scores")) {
        if (expected.has(field)) {
          assertThat(answer.get(field).toString())
              .as("%s of %s", field, lines.get(i + 1))
              .isEqualTo(expected.get(field).toString());
        }
      }
    }
  }

  /** Whether a case asks a queue once, as a line does. */
  static boolean isOnePop(JsonNode vector) {
    JsonNode steps = vector.get("steps");
    return steps.size() == 2 && steps.get(0).has("enqueue") && steps.get(1).has("pop");
  }

  static void checkPop(JsonNode vector, ServeVector.Lines route) throws IOException {
    JsonNode step = vector.get("steps").get(1);
    ObjectNode line = step.get("pop").deepCopy();
    line.put("op", "pop").put("policy", vector.get("policy").asText());
    line.set("queue", vector.get("steps").get(0).get("enqueue"));
    JsonNode answer = route.answers(List.of(line.toString())).get(0);
    assertThat(answer.get("popped")).as("%s", line).isEqualTo(step.get("popped"));
    if (step.has("queue")) {
      assertThat(answer.get("queue")).as("%s", line).isEqualTo(step.get("queue"));
    }
  }
}
