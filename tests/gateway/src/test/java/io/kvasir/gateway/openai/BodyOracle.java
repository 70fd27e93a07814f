package io.kvasir.gateway.openai;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kvasir.fleet.router.Prompt;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;

/** The same decisions as {@link BodyScan}, made slowly from Jackson's tree. */
final class BodyOracle {

  private static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(BodyScan.MAX_DEPTH)
                          .maxNumberLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final Set<String> OWNED = new HashSet<>();

  static {
    for (BodyField field : BodyField.values()) {
      OWNED.add(field.key());
    }
  }

  final JsonNode tree;

  private BodyOracle(JsonNode tree) {
    this.tree = tree;
  }

  /** The body, or null if it must be refused. */
  static BodyOracle of(byte[] body) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      JsonNode tree = JSON.readTree(text);
      if (!tree.isObject() || repeats(text)) {
        return null;
      }
      BodyOracle oracle = new BodyOracle(tree);
      return oracle.hasValidFields() ? oracle : null;
    } catch (IOException e) {
      return null;
    }
  }

  static JsonNode tree(String json) throws IOException {
    return JSON.readTree(json);
  }

  private static boolean repeats(String text) throws IOException {
    Set<List<String>> seen = new HashSet<>();
    try (JsonParser parser = JSON.createParser(text)) {
      String parent = "";
      int depth = 0;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        if (token != JsonToken.FIELD_NAME) {
          continue;
        }
        String name = parser.currentName();
        if (depth == 1) {
          parent = name;
          if (OWNED.contains(name) && !seen.add(List.of(name))) {
            return true;
          }
        } else if (depth == 2
            && isNested(parent, name)
            && parser.getParsingContext().getParent().inObject()) {
          if (!seen.add(List.of(parent, name))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static boolean isNested(String parent, String name) {
    return switch (parent) {
      case "stream_options" -> name.equals("include_usage");
      case "conversation_params" ->
          name.equals("conversation_id") || name.equals("subagent_affinity_id");
      case "client_metadata" -> name.equals("thread_id") || name.equals("session_id");
      case "metadata" -> name.equals("user_id");
      default -> false;
    };
  }

  private boolean hasValidFields() {
    for (BodyField field : BodyField.values()) {
      if (!tree.hasNonNull(field.key())) {
        continue;
      }
      JsonNode value = tree.get(field.key());
      boolean valid =
          switch (field.type) {
            case TEXT -> value.isTextual();
            case FLAG -> value.isBoolean();
            case INTEGER ->
                value.isIntegralNumber() || (value.isNumber() && value.doubleValue() % 1 == 0);
            case OBJECT -> value.isObject();
            case LIST -> value.isArray();
            case PROMPT -> isPrompt(value);
            case ANY, ROUTING -> true;
          };
      if (!valid) {
        return false;
      }
    }
    JsonNode usage = tree.at("/stream_options/include_usage");
    boolean valid = isAbsent(usage) || usage.isBoolean();
    for (String path :
        List.of(
            "/client_metadata/thread_id",
            "/client_metadata/session_id",
            "/conversation_params/subagent_affinity_id")) {
      valid &= isAbsent(tree.at(path)) || tree.at(path).isTextual();
    }
    if (tree.hasNonNull("conversation_params")) {
      JsonNode id = tree.at("/conversation_params/conversation_id");
      valid &= id.isTextual() && !id.textValue().isBlank();
    }
    return valid;
  }

  private static boolean isAbsent(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }

  private static boolean isPrompt(JsonNode value) {
    if (value.isTextual()) {
      return true;
    }
    return value.isArray()
        && (all(value, JsonNode::isTextual)
            || all(value, BodyOracle::isToken)
            || all(value, each -> each.isArray() && all(each, BodyOracle::isToken)));
  }

  private static boolean all(JsonNode array, Predicate<JsonNode> test) {
    return StreamSupport.stream(array.spliterator(), false).allMatch(test);
  }

  private static boolean isToken(JsonNode node) {
    return node.isIntegralNumber()
        && !node.asText().startsWith("-")
        && node.canConvertToLong()
        && node.longValue() <= 0xffffffffL;
  }

  String text(String path) {
    JsonNode node = tree.at(path);
    return isAbsent(node) ? null : node.textValue();
  }

  int integer(String field, int otherwise) {
    return tree.hasNonNull(field) ? (int) tree.get(field).doubleValue() : otherwise;
  }

  /** The prompt in a form that can be compared; null if there is none. */
  Object prompt() {
    if (tree.hasNonNull("messages")) {
      List<String> all = new ArrayList<>();
      if (tree.hasNonNull("system")) {
        all.add("system:" + content(tree.get("system")));
      }
      tree.get("messages").forEach(message -> all.add(message(message)));
      return all;
    }
    JsonNode value = promptValue();
    if (value.isTextual()) {
      return List.of(value.textValue());
    }
    if (!value.isArray() || !isPrompt(value)) {
      boolean messages = value.isArray() && !value.isEmpty() && all(value, JsonNode::isObject);
      return messages
          ? StreamSupport.stream(value.spliterator(), false).map(BodyOracle::message).toList()
          : null;
    }
    List<Object> all = new ArrayList<>();
    List<Integer> tokens = new ArrayList<>();
    for (JsonNode each : value) {
      if (each.isTextual()) {
        all.add(each.textValue());
      } else if (each.isArray()) {
        List<Integer> inner = new ArrayList<>();
        each.forEach(token -> inner.add((int) token.longValue()));
        all.add(inner);
      } else {
        tokens.add((int) each.longValue());
      }
    }
    return tokens.isEmpty() ? all : List.of(tokens);
  }

  private JsonNode promptValue() {
    for (String name : List.of("prompt", "input")) {
      if (tree.hasNonNull(name)) {
        return tree.get(name);
      }
    }
    JsonNode text = tree.path("text");
    if (text.isTextual() || (text.isArray() && all(text, JsonNode::isTextual))) {
      return text;
    }
    for (String name : List.of("input_ids", "token_ids")) {
      JsonNode tokens = tree.path(name);
      if (tokens.isArray()
          && !all(tokens, JsonNode::isTextual)
          && all(tokens, each -> !each.isObject())) {
        return tokens;
      }
    }
    return MissingNode.getInstance();
  }

  /** A prompt of the code under test in the same form. */
  static Object comparable(Prompt prompt) {
    if (prompt instanceof Prompt.Tokens tokens) {
      return tokens.sequences().stream().map(each -> Arrays.stream(each).boxed().toList()).toList();
    }
    if (prompt instanceof Prompt.Chat chat) {
      return chat.messages().stream().map(each -> each.role() + ":" + each.content()).toList();
    }
    return prompt instanceof Prompt.Texts texts ? texts.texts() : null;
  }

  private static String message(JsonNode message) {
    JsonNode role = message.path("role");
    return (role.isTextual() ? role.textValue() : "") + ":" + content(message.path("content"));
  }

  private static String content(JsonNode content) {
    if (!content.isArray()) {
      return content.isTextual() ? content.textValue() : "";
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode part : content) {
      JsonNode text = part.isTextual() ? part : part.path("text");
      if (text.isTextual() && !text.textValue().isEmpty()) {
        texts.add(text.textValue());
      }
    }
    return String.join("\n", texts);
  }
}
