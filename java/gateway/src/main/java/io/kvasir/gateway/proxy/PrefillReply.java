package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * The answer of a prefill worker as the client's reply: an error that is the request's own fault,
 * or an answer that ends with its first token. Stateless.
 */
final class PrefillReply {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String CONTENT_TYPE = "content-type";
  private static final String CONTENT_LENGTH = "content-length";
  private static final String CHOICES = "choices";
  private static final String MESSAGE = "message";
  private static final String OBJECT = "object";
  private static final String CHAT = "chat.completion";
  private static final String PARAMS = "disaggregated_params";
  private static final Set<String> OF_ANOTHER_WORKER =
      Set.of("prompt_token_ids", "prompt_token_ids_b64", PARAMS);

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

  private static ByteBuf own(Inbound inbound, Headers headers, byte[] body) {
    if (!inbound.streams()) {
      ByteBuf answer = Unpooled.buffer(body.length);
      copy(body, answer, false, inbound.injectsUsage());
      return answer;
    }
    headers.set(CONTENT_TYPE, "text/event-stream");
    ByteBuf events = Unpooled.buffer(body.length);
    events.writeCharSequence("data: ", StandardCharsets.US_ASCII);
    copy(body, events, true, inbound.injectsUsage());
    events.writeCharSequence("\n\ndata: [DONE]\n\n", StandardCharsets.US_ASCII);
    return events;
  }

  /**
   * Copies an answer without what is meant for another worker, and without a tree of it, which
   * would take far more memory than its bytes.
   *
   * @param chunk whether it becomes an event of a stream
   * @param withoutUsage whether the client has not asked for its usage
   */
  static void copy(byte[] answer, ByteBuf to, boolean chunk, boolean withoutUsage) {
    try (JsonParser in = JSON.createParser(answer);
        JsonGenerator out = JSON.createGenerator((OutputStream) new ByteBufOutputStream(to))) {
      in.nextToken();
      out.writeStartObject();
      while (in.nextToken() == JsonToken.FIELD_NAME) {
        String name = in.currentName();
        JsonToken value = in.nextToken();
        if (OF_ANOTHER_WORKER.contains(name) || (withoutUsage && name.equals("usage"))) {
          in.skipChildren();
        } else if (name.equals(CHOICES) && value == JsonToken.START_ARRAY) {
          out.writeArrayFieldStart(name);
          while (in.nextToken() != JsonToken.END_ARRAY) {
            copyChoice(in, out, chunk);
          }
          out.writeEndArray();
        } else if (chunk && name.equals(OBJECT) && in.getText().equals(CHAT)) {
          out.writeStringField(name, CHAT + ".chunk");
        } else {
          out.writeFieldName(name);
          out.copyCurrentStructure(in);
        }
      }
      out.writeEndObject();
    } catch (IOException e) {
      throw new IllegalStateException(e); // the answer was checked
    }
  }

  private static void copyChoice(JsonParser in, JsonGenerator out, boolean chunk)
      throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      out.copyCurrentStructure(in);
      return;
    }
    out.writeStartObject();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String name = in.currentName();
      in.nextToken();
      if (name.equals(PARAMS)) {
        in.skipChildren();
      } else {
        out.writeFieldName(chunk && name.equals(MESSAGE) ? "delta" : name);
        out.copyCurrentStructure(in);
      }
    }
    out.writeEndObject();
  }
}
