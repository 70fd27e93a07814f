package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * Renders conversations as prompts.
 *
 * <p>Tools come first: {@code <|tools|>}, a newline, their JSON and a newline. Each message is
 * {@code <|role|>}, a newline, its content and a newline. The prompt ends with {@code
 * <|assistant|>} and a newline. Content that is text is used as it is. Of content in parts, texts
 * are joined, and each other part is its JSON. The {@code tool_calls} of a message follow its
 * content as JSON; its other fields are left out. JSON is written without spaces, with keys in the
 * order of the request.
 *
 * <p>Not thread-safe.
 */
public final class ChatTemplate {

  private final StringBuilder prompt = new StringBuilder();

  /** Adds the tools; none if the array is null or empty. */
  public ChatTemplate tools(@Nullable JsonNode tools) {
    if (tools != null && !tools.isEmpty()) {
      open("tools").append(Json.text(tools)).append('\n');
    }
    return this;
  }

  /**
   * Adds a message whose content is a text or parts.
   *
   * @param field the name of the content's field, for messages of errors
   */
  public ChatTemplate message(String field, String role, JsonNode content) {
    open(role);
    content(field, content);
    prompt.append('\n');
    return this;
  }

  /** Adds one message. */
  public ChatTemplate message(String path, JsonNode message) {
    JsonNode role = message.get("role");
    if (role == null || !role.isTextual()) {
      throw ApiError.invalid(path + ".role", path + ".role must be a string");
    }
    open(role.textValue());
    content(path + ".content", message.get("content"));
    JsonNode calls = message.get("tool_calls");
    if (calls != null && !calls.isEmpty()) {
      prompt.append(Json.text(calls));
    }
    prompt.append('\n');
    return this;
  }

  /** Adds content: a text, parts, or nothing. */
  private void content(String path, @Nullable JsonNode content) {
    if (content == null || content.isNull()) {
      return;
    }
    if (content.isTextual()) {
      prompt.append(content.textValue());
    } else if (content.isArray()) {
      for (JsonNode part : content) {
        JsonNode text = part.get("text");
        boolean plain = text != null && text.isTextual() && isText(part.path("type").asText());
        prompt.append(plain ? text.textValue() : Json.text(part));
      }
    } else {
      throw RequestFields.wrongValue(path, "a string or an array of parts", content);
    }
  }

  /** Chat and Messages name a text {@code text}, Responses names it by its direction. */
  public static boolean isText(String type) {
    return type.equals("text") || type.equals("input_text") || type.equals("output_text");
  }

  /** Adds a value as JSON in the place of a message. */
  public ChatTemplate item(String name, JsonNode item) {
    open(name).append(Json.text(item)).append('\n');
    return this;
  }

  /** Ends the prompt with the head of the answer. */
  public String toPrompt() {
    return prompt + "<|assistant|>\n";
  }

  /** The prompt so far, without the head of an answer. */
  public String withoutAnswer() {
    return prompt.toString();
  }

  private StringBuilder open(String role) {
    return prompt.append("<|").append(role).append("|>\n");
  }
}
