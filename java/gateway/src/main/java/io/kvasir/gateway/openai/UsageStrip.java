package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Removes what {@code include_usage} adds to a stream, for clients that have not asked for it.
 * Stateless.
 */
public final class UsageStrip {

  private UsageStrip() {}

  /**
   * Removes {@code "usage":null} from an event, and the event if it is only there for its usage:
   * {@code choices} is empty. All other bytes stay as they are. O(bytes) if something is removed,
   * O(1) otherwise.
   *
   * @param event the event; its bytes are this call's to pass on or release
   * @return the bytes to send, which the caller owns; null if there are none
   */
  public static @Nullable ByteBuf strip(SseEvent event) {
    ByteBuf bytes = event.bytes();
    if (event.isOnlyUsage()) {
      bytes.release();
      return null;
    }
    if (event.cutTo() == 0) {
      return bytes;
    }
    int start = bytes.readerIndex();
    int length = bytes.readableBytes();
    ByteBuf rest = Unpooled.buffer(length - (event.cutTo() - event.cutFrom()));
    rest.writeBytes(bytes, start, event.cutFrom());
    rest.writeBytes(bytes, start + event.cutTo(), length - event.cutTo());
    bytes.release();
    return rest;
  }
}
