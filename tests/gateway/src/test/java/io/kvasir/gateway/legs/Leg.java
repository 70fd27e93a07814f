package io.kvasir.gateway.legs;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.Headers;
import io.kvasir.gateway.legs.Fields.Rule;
import java.math.BigInteger;
import java.util.List;

/**
 * A request of one leg, as it has arrived.
 *
 * @param chat whether it is a chat, or else a completion
 * @param headers its header fields
 * @param text the body's text
 * @param body the body
 */
public record Leg(boolean chat, Headers headers, String text, JsonNode body) {

  /** Reads JSON without loss: numbers are exact, and no member comes twice. */
  static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static final Rule COUNT = Fields.integer(1, Integer.MAX_VALUE);
  private static final Rule TOKENS = Fields.each(Fields.integer(0, Integer.MAX_VALUE));
  private static final Rule TEXTS = Fields.each(Fields.TEXT);

  static Leg of(boolean chat, Headers headers, String text) {
    try {
      return new Leg(chat, headers, text, JSON.readTree(text));
    } catch (JsonProcessingException e) {
      throw Refused.field("the body is no JSON: " + e.getOriginalMessage());
    }
  }

  /** Checks the members that clients send; those of the protocol are left to the caller. */
  Fields fields() {
    Fields fields = Fields.of("body", body).need("model", Fields.text("m"));
    if (chat) {
      fields.need("messages", Fields.each(Fields.OBJECT));
      fields.may("tools", Fields.each(Fields.OBJECT)).may("tool_choice", Fields.TEXT);
      fields.may("max_completion_tokens", COUNT);
    } else {
      fields.need("prompt", Fields.TEXT.or(TOKENS));
    }
    fields.may("max_tokens", COUNT).may("min_tokens", Fields.integer(0, Integer.MAX_VALUE));
    fields.may("n", Fields.integer(1, 1)).may("stop", Fields.TEXT.or(TEXTS));
    fields.may("temperature", Fields.NUMBER).may("user", Fields.TEXT);
    fields.may("seed", Fields.integer(Long.MIN_VALUE, Long.MAX_VALUE));
    fields.may("stream", Fields.FLAG).may("stream_options", Fields.OBJECT.or(Fields.NULL));
    if (body.path("stream_options").isObject()) {
      Fields.of("stream_options", body.path("stream_options"))
          .may("include_usage", Fields.FLAG)
          .end();
      if (!streams()) {
        throw Refused.field("stream_options without stream");
      }
    }
    return fields;
  }

  /** Checks that a prefill leg computes the prompt and one token, in one piece. */
  void oneToken() {
    Fields.of("body", body)
        .need("max_tokens", Fields.integer(1, 1))
        .may("max_completion_tokens", Fields.integer(1, 1))
        .may("stream", Fields.FALSE)
        .may("stream_options", Fields.NULL)
        .may("min_tokens", Fields.integer(0, 1));
  }

  boolean streams() {
    return body.path("stream").asBoolean();
  }

  boolean wantsUsage() {
    return body.path("stream_options").path("include_usage").asBoolean();
  }

  /** The most tokens of an answer. */
  int maxTokens() {
    JsonNode limit = body.path("max_completion_tokens");
    return (limit.isMissingNode() ? body.path("max_tokens") : limit).asInt(16);
  }

  /** The prompt as the client has sent it. */
  JsonNode prompt() {
    return body.path(chat ? "messages" : "prompt");
  }

  /** Tokens of the prompt: those that the client has sent, or one for every four characters. */
  int promptTokens() {
    return prompt().isArray() && !chat ? prompt().size() : prompt().toString().length() / 4;
  }

  /**
   * A header field that must be there once.
   *
   * @param name its name
   * @return its value
   */
  public String header(String name) {
    List<String> values = headers.get(name);
    if (values == null || values.size() != 1 || values.get(0).isBlank()) {
      throw Refused.field("the header " + name + " must be there once, is " + values);
    }
    return values.get(0);
  }

  /** The rank that the header names. */
  int rankHeader(int ranks) {
    String value = header("X-data-parallel-rank");
    if (!value.matches("[0-9]{1,9}") || new BigInteger(value).intValueExact() >= ranks) {
      throw Refused.field("X-data-parallel-rank must be from 0 to " + (ranks - 1) + ": " + value);
    }
    return Integer.parseInt(value);
  }
}
