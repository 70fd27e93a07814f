package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The answer of a prefill worker as the client's reply: an error that is the request's own fault,
 * or an answer that ends with its first token. Stateless.
 */
final class PrefillReply {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CONTENT_TYPE = "content-type";
  private static final String CONTENT_LENGTH = "content-length";
  private static final String CHOICES = "choices";
  private static final String MESSAGE = "message";
  private static final String OBJECT = "object";

  private PrefillReply() {}

  /**
   * Writes a whole reply; to a client that asked for a stream, a good one as two events, and an
   * error as an event if comments have begun the reply.
   *
   * @return the status that the client sees
   */
  static int write(
      Exchange exchange, Inbound inbound, int status, Headers from, byte[] body, Tally tally) {
    if (exchange.replying() && status == 200) {
      exchange.write(answer(inbound, new Headers(), body, tally));
      exchange.end();
      return 200;
    }
    if (exchange.replying()) {
      String message = "a prefill worker answered " + status;
      tally.onError(message);
      exchange.write(
          Replies.errorEvent(inbound.endpoint(), Problem.of(502, "upstream_error", message)));
      exchange.end();
      return 200;
    }
    Headers headers = ForwardedHeaders.reply(from, inbound.id());
    headers.remove(CONTENT_LENGTH);
    headers.remove("location");
    ByteBuf bytes =
        status == 200 ? answer(inbound, headers, body, tally) : Unpooled.wrappedBuffer(body);
    if (!inbound.streams() || status != 200) {
      headers.set(CONTENT_LENGTH, Integer.toString(bytes.readableBytes()));
    }
    exchange.head(status, headers);
    exchange.write(bytes);
    exchange.end();
    return status;
  }

  private static ByteBuf answer(Inbound inbound, Headers headers, byte[] body, Tally tally) {
    Usage usage = Usage.of(Unpooled.wrappedBuffer(body));
    tally.onUsage(usage.inputTokens(), usage.cachedTokens(), usage.outputTokens());
    return own(inbound, headers, body);
  }

  /** The answer without what is meant for another worker. */
  private static ByteBuf own(Inbound inbound, Headers headers, byte[] body) {
    try {
      ObjectNode answer = (ObjectNode) JSON.readTree(body);
      answer.remove("prompt_token_ids");
      answer.remove("prompt_token_ids_b64");
      if (inbound.injectsUsage()) {
        answer.remove("usage");
      }
      answer.remove("disaggregated_params");
      for (JsonNode choice : answer.path(CHOICES)) {
        if (choice instanceof ObjectNode fields) {
          fields.remove("disaggregated_params");
        }
      }
      if (!inbound.streams()) {
        return Unpooled.wrappedBuffer(JSON.writeValueAsBytes(answer));
      }
      headers.set(CONTENT_TYPE, "text/event-stream");
      String events = "data: " + JSON.writeValueAsString(chunk(answer)) + "\n\ndata: [DONE]\n\n";
      return Unpooled.wrappedBuffer(events.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IllegalStateException(e); // the answer was checked
    }
  }

  private static ObjectNode chunk(ObjectNode answer) {
    if (answer.path(OBJECT).asText().equals("chat.completion")) {
      answer.put(OBJECT, "chat.completion.chunk");
    }
    for (JsonNode choice : answer.path(CHOICES)) {
      if (choice instanceof ObjectNode fields && fields.has(MESSAGE)) {
        fields.set("delta", fields.remove(MESSAGE));
      }
    }
    return answer;
  }
}
