package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An error as clients of the OpenAI and Anthropic APIs read it. Immutable.
 *
 * @param type the kind of error, for example {@code invalid_request_error}
 * @param message what is wrong, in words; parts that come from clients must be cut with {@link
 *     io.kvasir.model.Errors#shown}
 * @param param the field at fault, or null
 * @param code a word for programs, for example {@code model_not_found}, or null
 */
public record OpenAiError(
    String type, String message, @Nullable String param, @Nullable String code) {

  /**
   * The error for a body that the client must correct, status 400.
   *
   * @param invalid what is wrong
   * @return the error
   */
  public static OpenAiError of(InvalidBodyException invalid) {
    return new OpenAiError("invalid_request_error", invalid.reason(), invalid.param(), null);
  }

  /**
   * {@return the answer, in JSON, to what is no valid request of HTTP}
   *
   * @param status the status, which does not change the answer
   * @param message what is wrong
   */
  public static String invalidHttp(int status, String message) {
    return new String(
        new OpenAiError("invalid_request_error", message, null, "invalid_http").body(),
        StandardCharsets.UTF_8);
  }

  /** {@return the body of a reply of the OpenAI API} */
  public byte[] body() {
    return utf8(json());
  }

  /** {@return the event that ends a stream of the OpenAI API} */
  public byte[] event() {
    return utf8("data: " + json() + "\n\n");
  }

  /** {@return the body of a reply of the Anthropic API, which has no param and no code} */
  public byte[] anthropicBody() {
    return utf8(anthropicJson());
  }

  /** {@return the event that ends a stream of the Anthropic API} */
  public byte[] anthropicEvent() {
    return utf8("event: error\ndata: " + anthropicJson() + "\n\n");
  }

  private String json() {
    StringBuilder json = new StringBuilder("{\"error\":{\"message\":");
    JsonText.appendQuoted(json, message);
    json.append(",\"type\":");
    JsonText.appendQuoted(json, type);
    json.append(",\"param\":");
    appendNullable(json, param);
    json.append(",\"code\":");
    appendNullable(json, code);
    return json.append("}}").toString();
  }

  private String anthropicJson() {
    StringBuilder json = new StringBuilder("{\"type\":\"error\",\"error\":{\"type\":");
    JsonText.appendQuoted(json, type);
    json.append(",\"message\":");
    JsonText.appendQuoted(json, message);
    return json.append("}}").toString();
  }

  private static void appendNullable(StringBuilder json, @Nullable String text) {
    if (text == null) {
      json.append("null");
    } else {
      JsonText.appendQuoted(json, text);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
