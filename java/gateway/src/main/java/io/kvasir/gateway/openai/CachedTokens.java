package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** Replaces the number of cached tokens in an engine's usage. Stateless. */
public final class CachedTokens {

  /** In a text of JSON the quotes would be escaped. */
  private static final ByteBuf KEY =
      Unpooled.unreleasableBuffer(
          Unpooled.copiedBuffer("\"cached_tokens\":", StandardCharsets.US_ASCII).asReadOnly());

  private CachedTokens() {}

  /**
   * Replaces the number in place, with blanks behind a shorter one: the length stays. A longer
   * number, and JSON without the member, change nothing. O(bytes).
   *
   * @param json the JSON, or an event of it, in writable memory
   * @param tokens the number, at least 0
   * @return whether it was replaced
   */
  public static boolean replace(ByteBuf json, long tokens) {
    int found = ByteBufUtil.indexOf(KEY, json);
    if (found < 0) {
      return false;
    }
    int from = found + KEY.readableBytes();
    while (from < json.writerIndex() && json.getByte(from) == ' ') {
      from++;
    }
    int to = from;
    while (to < json.writerIndex() && isDigit(json.getByte(to))) {
      to++;
    }
    byte[] digits = Long.toString(tokens).getBytes(StandardCharsets.US_ASCII);
    if (digits.length > to - from) {
      return false;
    }
    json.setBytes(from, digits);
    for (int i = from + digits.length; i < to; i++) {
      json.setByte(i, ' ');
    }
    return true;
  }

  private static boolean isDigit(byte c) {
    return c >= '0' && c <= '9';
  }
}
