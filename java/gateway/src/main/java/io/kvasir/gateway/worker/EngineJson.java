package io.kvasir.gateway.worker;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads answers of engines, which can be anything. Stateless. */
final class EngineJson {

  /**
   * Names and values of one answer, which bound the memory of its tree: 10,000 models have a third.
   */
  private static final long MOST_TOKENS = 1_000_000;

  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxTokenCount(MOST_TOKENS).build())
              .build());

  private EngineJson() {}

  /** The answer; a missing node if it is not JSON, or has too many values. */
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
