package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The parameters by which an engine offers the KV of its answer: member {@code kv_transfer_params}
 * of an answer or of an event, or of the reply within an event. Stateless.
 */
public final class TransferParams {

  private static final byte[] NAME = "kv_transfer_params".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] RESPONSE = "response".getBytes(StandardCharsets.US_ASCII);
  private static final ByteBuf QUOTED =
      Unpooled.unreleasableBuffer(
          Unpooled.copiedBuffer("\"kv_transfer_params\"", StandardCharsets.US_ASCII).asReadOnly());

  private TransferParams() {}

  /**
   * Takes the parameters out: blanks stand in their place, so that the length stays. O(bytes).
   *
   * @param json the answer, or an event, in writable memory
   * @return the parameters as they came; null if there are none, or they are null
   */
  public static @Nullable String take(ByteBuf json) {
    if (ByteBufUtil.indexOf(QUOTED, json) < 0) {
      return null;
    }
    byte[] bytes = ByteBufUtil.getBytes(json);
    int from = 0;
    while (from < bytes.length && bytes[from] != '{') {
      from++;
    }
    try {
      JsonCursor cursor = new JsonCursor();
      cursor.reset(bytes, from, bytes.length);
      JsonMember member = find(cursor);
      if (member == null) {
        return null;
      }
      int[] cut = member.cut(bytes, from);
      for (int i = cut[0]; i < cut[1]; i++) {
        json.setByte(json.readerIndex() + i, ' ');
      }
      int length = member.end() - member.value();
      return member.isNull(bytes)
          ? null
          : new String(bytes, member.value(), length, StandardCharsets.UTF_8);
    } catch (JsonException e) {
      return null; // the engine's bytes reach the client in any case
    }
  }

  private static @Nullable JsonMember find(JsonCursor json) throws JsonException {
    json.beginObject();
    while (json.nextKey()) {
      int key = json.keyStart();
      boolean named = isKey(json, NAME);
      boolean nested = isKey(json, RESPONSE);
      int first = json.peek();
      int value = json.at();
      if (nested && first == '{') {
        JsonMember found = find(json);
        if (found != null) {
          return found;
        }
      } else {
        json.skip();
        if (named) {
          return new JsonMember(key, value, json.at(), false);
        }
      }
    }
    return null;
  }

  private static boolean isKey(JsonCursor json, byte[] name) {
    int from = json.keyStart() + 1;
    int to = from + name.length;
    return to < json.bytes().length
        && json.bytes()[to] == '"'
        && Arrays.equals(json.bytes(), from, to, name, 0, name.length);
  }
}
