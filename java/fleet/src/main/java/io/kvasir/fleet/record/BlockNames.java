package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.Base64Variant;
import com.fasterxml.jackson.core.Base64Variants;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Names of blocks as bytes, eight to each, the lowest first. Base64 of them is half as long as
 * decimal numbers, and takes less time. Stateless.
 */
final class BlockNames {

  static final Base64Variant BASE64 = Base64Variants.MIME_NO_LINEFEEDS;

  private BlockNames() {}

  /** The names from a position on. */
  static byte[] bytes(long[] names, int from) {
    byte[] bytes = new byte[(names.length - from) * Long.BYTES];
    longs(bytes).put(names, from, names.length - from);
    return bytes;
  }

  /** The names of a text in base64; null if it is none. */
  static long @Nullable [] parse(String text) {
    byte[] bytes;
    try {
      bytes = BASE64.decode(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
    if (bytes.length % Long.BYTES != 0) {
      return null;
    }
    long[] names = new long[bytes.length / Long.BYTES];
    longs(bytes).get(names);
    return names;
  }

  private static LongBuffer longs(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
  }
}
