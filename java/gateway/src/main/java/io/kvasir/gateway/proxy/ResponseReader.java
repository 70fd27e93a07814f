package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ContinuedInput;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.tokens.StoredTurns;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a reply of the Responses API: the id of the response, and what request and answer add to a
 * stored conversation. Confined to the exchange's event loop.
 */
final class ResponseReader {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ByteBuf DATA =
      Unpooled.unreleasableBuffer(
          Unpooled.wrappedBuffer("data:".getBytes(StandardCharsets.US_ASCII)));

  /** States of a response whose answer is there, and can be continued. */
  private static final Set<String> ANSWERED = Set.of("completed", "incomplete");

  private final Consumer<String> onId;
  private final StoredTurns turns;

  /** What the request has added; null if its response is not stored, or tokens need nothing. */
  private byte @Nullable [] input;

  private @Nullable String previous;

  /**
   * Begins with nothing read.
   *
   * @param turns receives what the request and its answer add to a conversation
   * @param onId receives the id of the response
   */
  ResponseReader(StoredTurns turns, Consumer<String> onId) {
    this.turns = turns;
    this.onId = onId;
  }

  /**
   * Keeps what a request adds to a conversation, if tokens of requests are made and the budget has
   * room.
   *
   * @param memory counts it until the reply is over
   */
  void keep(Inbound inbound, ReplyMemory memory) {
    BodyScan body = inbound.body();
    if (body == null || inbound.tokens() == null || body.isFalse(BodyField.STORE)) {
      return;
    }
    int bytes = ContinuedInput.size(body);
    if (bytes > 0 && memory.keep(bytes)) {
      input = ContinuedInput.of(body);
      previous = body.previousResponseId();
    }
  }

  /** The first event of a stream, or the one that ends the answer. */
  void onEvent(ByteBuf event) {
    int start = ByteBufUtil.indexOf(DATA, event);
    if (start >= 0) {
      read(event, start + DATA.readableBytes());
    }
  }

  /** A complete answer. */
  void onJson(ByteBuf answer) {
    read(answer, answer.readerIndex());
  }

  /** Reads the outermost object, or the one in its member {@code response}. */
  private void read(ByteBuf json, int from) {
    byte[] bytes = ByteBufUtil.getBytes(json, from, json.writerIndex() - from);
    String id = null;
    String status = null;
    JsonNode output = null;
    try (JsonParser parser = JSON.createParser(bytes)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals("id") && value == JsonToken.VALUE_STRING) {
          id = parser.getText();
          onId.accept(id);
          if (input == null) {
            return;
          }
        } else if (name.equals("status") && value == JsonToken.VALUE_STRING) {
          status = parser.getText();
        } else if (name.equals("output") && input != null) {
          output = parser.readValueAsTree();
        } else if (!(name.equals("response") && value == JsonToken.START_OBJECT)) {
          parser.skipChildren();
        }
      }
    } catch (IOException e) {
      return; // an answer without an id that can be read is not stored
    }
    byte[] added = input;
    if (added != null && id != null && output != null && ANSWERED.contains("" + status)) {
      turns.put(id, new StoredTurns.Turn(previous, added, messages(output)));
      input = null;
    }
  }

  /** The texts of an answer as messages: all that vLLM keeps of it in the conversation. */
  private static byte[] messages(JsonNode output) {
    StringJoiner items = new StringJoiner(",", "[", "]");
    for (JsonNode item : output) {
      if (item.path("type").asText().equals("message")) {
        for (JsonNode part : item.path("content")) {
          String text = JsonText.quoted(part.path("text").asText());
          items.add("{\"role\":\"assistant\",\"content\":" + text + "}");
        }
      }
    }
    return items.toString().getBytes(StandardCharsets.UTF_8);
  }
}
