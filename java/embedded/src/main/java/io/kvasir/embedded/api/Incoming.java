package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.Headers;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * A request and the call that receives its reply.
 *
 * @param method for example {@code POST}
 * @param path the target without its query
 * @param query what follows the question mark; empty if nothing does
 * @param headers the request's fields
 * @param body the body; valid while the request is handled
 * @param call receives the reply
 */
public record Incoming(
    String method, String path, String query, Headers headers, ByteBuf body, Call call) {

  /**
   * The fields of the body.
   *
   * @throws ApiError if it is no JSON object
   */
  public RequestFields fields() {
    return new RequestFields(Json.read(body));
  }

  /**
   * A whole number in the query; a default if it is missing.
   *
   * @throws ApiError if it is not within the bounds
   */
  public int queryNumber(String name, int least, int most, int otherwise) {
    for (String part : query.split("&", -1)) {
      if (part.startsWith(name + "=")) {
        String value = part.substring(name.length() + 1);
        Long number = Decimals.integer(value);
        if (number == null || number < least || number > most) {
          throw ApiError.invalid(
              name,
              name
                  + " must be a whole number from "
                  + least
                  + " to "
                  + most
                  + ", not "
                  + Errors.shown(value));
        }
        return number.intValue();
      }
    }
    return otherwise;
  }

  /** Header fields of a JSON reply, with the request's id if it has one. */
  public Headers jsonHeaders() {
    return replyHeaders("application/json");
  }

  /** Header fields of a reply, with the request's id if it has one. */
  Headers replyHeaders(String contentType) {
    Headers reply = new Headers().add("content-type", contentType);
    String id = headers.get("x-request-id");
    return id == null ? reply : reply.add("x-request-id", id);
  }

  /** Replies with JSON, after the current task. */
  public void replyLater(int status, JsonNode value) {
    call.later(() -> call.reply(status, jsonHeaders(), Json.bytes(value)));
  }

  /** Replies with text, after the current task. */
  public void replyLater(int status, String contentType, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    call.later(() -> call.reply(status, replyHeaders(contentType), bytes));
  }
}
