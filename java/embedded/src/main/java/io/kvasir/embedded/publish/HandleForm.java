package io.kvasir.embedded.publish;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/** How sequence hashes of blocks become the handles that an engine publishes. Stateless. */
public enum HandleForm {
  /** The hash as an unsigned number of 64 bits. */
  UNSIGNED,
  /** The hash as a signed number of 64 bits. */
  SIGNED,
  /**
   * 32 bytes that depend on the hash alone; the last eight are the hash, most significant first.
   */
  BYTES;

  private static final int WORDS = 4;
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  /** The 32 bytes of a hash. */
  static byte[] bytes(long hash) {
    ByteBuffer bytes = ByteBuffer.allocate(WORDS * Long.BYTES);
    for (int word = WORDS - 1; word > 0; word--) {
      long mixed = (hash ^ word) * MULTIPLIER;
      bytes.putLong(mixed ^ (mixed >>> 32));
    }
    return bytes.putLong(hash).array();
  }

  /**
   * {@return a handle as JSON: a number, or the hexadecimal digits of its bytes as a text}
   *
   * @param hash the block's sequence hash
   */
  public String json(long hash) {
    return switch (this) {
      case UNSIGNED -> Long.toUnsignedString(hash);
      case SIGNED -> Long.toString(hash);
      case BYTES -> '"' + HexFormat.of().formatHex(bytes(hash)) + '"';
    };
  }
}
