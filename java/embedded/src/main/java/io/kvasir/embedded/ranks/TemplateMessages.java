package io.kvasir.embedded.ranks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ChatTemplate;
import io.kvasir.embedded.api.Conversation;
import io.kvasir.embedded.api.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a chat template is given for a conversation: the messages that vLLM makes of chats, of
 * Anthropic's messages and of items of OpenAI's responses. A call of a tool belongs to the
 * assistant's message, and its result is a message of the role {@code tool}. Items of other types
 * stay as they are.
 *
 * <p>Not thread-safe.
 */
final class TemplateMessages {

  private static final String ASSISTANT = "assistant";
  private static final String CONTENT = "content";
  private static final String CALLS = "tool_calls";
  private static final String TYPE = "type";

  private final List<Entry> entries = new ArrayList<>();

  /** A message, or an item if it has a name. */
  private record Entry(String path, @Nullable String item, JsonNode value) {}

  /** Reads the messages of a conversation. */
  TemplateMessages(Conversation conversation) {
    JsonNode messages = conversation.messages();
    for (int i = 0; i < messages.size(); i++) {
      JsonNode each = messages.get(i);
      String path = conversation.path(i);
      String type = conversation.isOther(each) ? each.path(TYPE).asText("item") : "message";
      switch (type) {
        case "message" -> message(path, each);
        case "function_call" -> call(path, each);
        case "function_call_output" -> result(path, each.get("output"));
        default -> entries.add(new Entry(path, type, each));
      }
    }
  }

  private void message(String path, JsonNode message) {
    if (hasBlocks(message.path(CONTENT))) {
      blocks(path, message);
    } else if (message.path(CALLS).isArray()) {
      ArrayNode calls = Json.array();
      message.get(CALLS).forEach(each -> calls.add(withObject(each)));
      entries.add(new Entry(path, null, ((ObjectNode) message.deepCopy()).set(CALLS, calls)));
    } else {
      entries.add(new Entry(path, null, message));
    }
  }

  private static boolean hasBlocks(JsonNode content) {
    for (JsonNode part : content) {
      String type = part.path(TYPE).asText();
      if (type.equals("tool_use") || type.equals("tool_result") || type.equals("thinking")) {
        return true;
      }
    }
    return false;
  }

  /** Blocks of Anthropic's messages; results of tools come before the rest of their message. */
  private void blocks(String path, JsonNode message) {
    ArrayNode content = Json.array();
    ArrayNode calls = Json.array();
    for (JsonNode block : message.get(CONTENT)) {
      switch (block.path(TYPE).asText()) {
        case "tool_use" -> calls.add(use(block));
        case "tool_result" -> result(path, resultText(block.get(CONTENT)));
        case "thinking" -> {} // templates drop it from earlier turns
        default -> content.add(block);
      }
    }
    boolean answer = message.path("role").asText().equals(ASSISTANT);
    if (answer || !content.isEmpty()) {
      ObjectNode made = Json.object();
      made.set("role", message.get("role"));
      made.set(CONTENT, content);
      made.set(CALLS, calls);
      entries.add(new Entry(path, null, made));
    }
  }

  private static ObjectNode use(JsonNode block) {
    ObjectNode call = Json.object();
    call.set("id", block.get("id"));
    ObjectNode function = call.put(TYPE, "function").putObject("function");
    function.set("name", block.get("name"));
    function.set("arguments", block.has("input") ? block.get("input") : Json.object());
    return call;
  }

  /** The texts of a result, one a line; a result with other parts as it is. */
  private static @Nullable JsonNode resultText(@Nullable JsonNode content) {
    if (content == null || !content.isArray()) {
      return content;
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode part : content) {
      if (!ChatTemplate.isText(part.path(TYPE).asText())) {
        return content;
      }
      texts.add(part.path("text").asText());
    }
    return Json.object().textNode(String.join("\n", texts));
  }

  private void result(String path, @Nullable JsonNode content) {
    ObjectNode made = Json.object().put("role", "tool");
    made.set(CONTENT, content);
    entries.add(new Entry(path, null, made));
  }

  /** A call of responses, which belongs to the answer before it, if there is one. */
  private void call(String path, JsonNode item) {
    ObjectNode call = Json.object();
    call.set("id", item.get("call_id"));
    ObjectNode function = call.putObject("function");
    function.set("name", item.get("name"));
    function.set("arguments", item.get("arguments"));
    call.put(TYPE, "function");
    ObjectNode message = Json.object().put("role", ASSISTANT);
    Entry last = entries.isEmpty() ? null : entries.get(entries.size() - 1);
    if (last != null && last.item == null && last.value.path("role").asText().equals(ASSISTANT)) {
      message = last.value.deepCopy();
      entries.remove(last);
    }
    ArrayNode calls = message.get(CALLS) instanceof ArrayNode before ? before : Json.array();
    message.set(CALLS, calls.add(withObject(call)));
    entries.add(new Entry(path, null, message));
  }

  /** A call whose arguments are an object, as templates are given them, and no text of one. */
  private static JsonNode withObject(JsonNode call) {
    JsonNode arguments = call.path("function").path("arguments");
    if (!arguments.isTextual()) {
      return call;
    }
    String text = arguments.textValue();
    JsonNode copy = call.deepCopy();
    ((ObjectNode) copy.get("function"))
        .set("arguments", text.isEmpty() ? Json.object() : Json.parse("arguments", text));
    return copy;
  }

  /** Adds the messages to a template. */
  void addTo(ChatTemplate template) {
    for (Entry entry : entries) {
      if (entry.item == null) {
        template.message(entry.path, entry.value);
      } else {
        template.item(entry.item, entry.value);
      }
    }
  }

  /**
   * The tools of a request as those of a chat, with their fields in the order of vLLM's models.
   *
   * @param tools the tools of a chat, of Anthropic's messages or of responses; null for none
   */
  static @Nullable ArrayNode tools(@Nullable JsonNode tools) {
    if (tools == null) {
      return null;
    }
    ArrayNode made = Json.array();
    for (JsonNode tool : tools) {
      boolean anthropic = tool.has("input_schema");
      JsonNode of = tool.has("function") ? tool.get("function") : tool;
      ObjectNode each = made.addObject().put(TYPE, "function");
      ObjectNode function = each.putObject("function");
      function.set("name", of.get("name"));
      function.set("description", of.get("description"));
      function.set("parameters", of.get(anthropic ? "input_schema" : "parameters"));
      for (Map.Entry<String, JsonNode> field : of.properties()) {
        if (!anthropic && !function.has(field.getKey()) && !field.getKey().equals(TYPE)) {
          function.set(field.getKey(), field.getValue());
        }
      }
    }
    return made;
  }
}
