package io.kvasir.embedded.api;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** Server-sent events that were not sent yet. Not thread-safe. */
public final class EventStream {

  private final StringBuilder text = new StringBuilder();

  /** Adds an event without a name. */
  public void data(JsonNode value) {
    data(Json.text(value));
  }

  /** Adds an event without a name. */
  public void data(String line) {
    text.append("data: ").append(line).append("\n\n");
  }

  /** Adds an event without a name whose JSON is given in parts; the text is quoted here. */
  public void data(String head, int number, String middle, String unquoted, String tail) {
    text.append("data: ").append(head).append(number).append(middle);
    JsonStringEncoder.getInstance().quoteAsString(unquoted, text);
    text.append(tail).append("\n\n");
  }

  /** Adds an event with a name. */
  void event(String name, JsonNode value) {
    text.append("event: ").append(name).append('\n');
    data(value);
  }

  boolean isEmpty() {
    return text.isEmpty();
  }

  /** Removes all events and returns their bytes. */
  ByteBuf take() {
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    text.setLength(0);
    return Unpooled.wrappedBuffer(bytes);
  }
}
