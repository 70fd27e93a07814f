package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * A conversation that a request asks to continue. Immutable.
 *
 * @param fields the request's fields, which may have tools
 * @param system what goes before the messages, a text or parts; null for nothing
 * @param field the messages' field: {@code messages}, or {@code input}, which may also have items
 *     that are no messages
 * @param messages an array, from the oldest one
 */
public record Conversation(
    RequestFields fields, @Nullable JsonNode system, String field, JsonNode messages) {

  /** The field of messages. */
  static final String MESSAGES = "messages";

  /** The field of messages and other items. */
  static final String INPUT = "input";

  /** A conversation without anything before its messages. */
  public static Conversation of(RequestFields fields, JsonNode messages) {
    return new Conversation(fields, null, MESSAGES, messages);
  }

  /** Whether an element is an item that is no message. */
  public boolean isOther(JsonNode element) {
    return field.equals(INPUT) && !element.has("role");
  }

  /** Where an element is, for errors. */
  public String path(int index) {
    return field + "[" + index + "]";
  }
}
