package io.kvasir.engine.execute;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The bytes of a frame while it is written; grows as needed and is reused. Not thread-safe. */
final class FrameBody {

  private ByteBuffer bytes = ByteBuffer.allocate(1 << 12);

  /** Begins an empty frame. */
  void clear() {
    bytes.clear();
  }

  /**
   * Makes room.
   *
   * @param more the bytes to be written next, at most
   * @return the buffer to write them to, valid until the next call
   */
  ByteBuffer reserve(int more) {
    if (bytes.remaining() < more) {
      ByteBuffer larger = ByteBuffer.allocate(2 * (bytes.position() + more));
      bytes = larger.put(bytes.flip());
    }
    return bytes;
  }

  /** Writes a text, which {@link #text} reads. */
  void putText(String text) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    reserve(Integer.BYTES + encoded.length).putInt(encoded.length).put(encoded);
  }

  /** Reads a text that {@link #putText} has written. */
  static String text(ByteBuffer from) {
    byte[] encoded = new byte[from.getInt()];
    from.get(encoded);
    return new String(encoded, StandardCharsets.UTF_8);
  }

  /** Ends the frame; returns it for reading, valid until the next {@link #clear}. */
  ByteBuffer flip() {
    return bytes.flip();
  }
}
