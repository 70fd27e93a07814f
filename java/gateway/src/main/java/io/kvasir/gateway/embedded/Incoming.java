package io.kvasir.gateway.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.exchange.Headers;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * A request and the call that receives its reply.
 *
 * @param method for example {@code POST}
 * @param path the target without its query
 * @param headers the request's fields
 * @param body the body; valid while the request is handled
 * @param call receives the reply
 */
record Incoming(String method, String path, Headers headers, ByteBuf body, Call call) {

  /**
   * The fields of the body.
   *
   * @throws ApiError if it is no JSON object
   */
  RequestFields fields() {
    return new RequestFields(Json.read(body));
  }

  /** Header fields of a JSON reply, with the request's id if it has one. */
  Headers jsonHeaders() {
    return replyHeaders("application/json");
  }

  /** Header fields of a reply, with the request's id if it has one. */
  Headers replyHeaders(String contentType) {
    Headers reply = new Headers().add("content-type", contentType);
    String id = headers.get("x-request-id");
    return id == null ? reply : reply.add("x-request-id", id);
  }

  /** Replies with JSON, after the current task. */
  void replyLater(int status, JsonNode value) {
    call.later(() -> call.reply(status, jsonHeaders(), Json.bytes(value)));
  }

  /** Replies with text, after the current task. */
  void replyLater(int status, String contentType, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    call.later(() -> call.reply(status, replyHeaders(contentType), bytes));
  }
}
