package io.kvasir.gateway.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads answers of engines, which can be anything. Stateless. */
final class EngineJson {

  private static final ObjectMapper JSON = new ObjectMapper();

  private EngineJson() {}

  /** The answer; a missing node if it is not JSON. */
  static JsonNode read(byte @Nullable [] answer) {
    try {
      JsonNode root = answer == null ? null : JSON.readTree(answer);
      return root == null ? MissingNode.getInstance() : root;
    } catch (IOException e) {
      return MissingNode.getInstance(); // counts as no answer
    }
  }

  /** A whole number of a field that is in range; {@code otherwise} if there is none. */
  static int number(JsonNode object, String field, int minimum, int maximum, int otherwise) {
    JsonNode value = object.path(field);
    return value.isIntegralNumber()
            && value.canConvertToInt()
            && value.intValue() >= minimum
            && value.intValue() <= maximum
        ? value.intValue()
        : otherwise;
  }

  /** The text of a field, of at most 200 characters; null if there is none. */
  static @Nullable String text(JsonNode object, String field) {
    JsonNode value = object.path(field);
    return value.isTextual() && value.asText().length() <= 200 ? value.asText() : null;
  }
}
