package io.kvasir.gateway.openai;

/** The encoding of texts. Stateless. */
final class Utf8 {

  /** Bytes of the longest character. */
  static final int MAX_LENGTH = 4;

  private Utf8() {}

  /**
   * Skips characters that are not ASCII. Checks that they are neither overlong, surrogates, too
   * large nor cut.
   *
   * @param b the array
   * @param from index of the first byte
   * @param end index after the last byte that may be read
   * @return index of the next ASCII character, or {@code end}
   * @throws JsonException if a character is not valid
   */
  static int skip(byte[] b, int from, int end) throws JsonException {
    int i = from;
    while (i < end && b[i] < 0) {
      int lead = b[i] & 0xff;
      int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      if (lead < 0xc2 || lead > 0xf4 || end - i < length || !isTail(b[i + 1])) {
        throw notUtf8(i);
      }
      if (length == 3) {
        int first = ((lead & 0xf) << 6) | (b[i + 1] & 0x3f);
        if (first < 0x20 || first >>> 5 == 0x1b || !isTail(b[i + 2])) {
          throw notUtf8(i); // below U+0800, or a surrogate
        }
      } else if (length == 4) {
        int first = ((lead & 7) << 6) | (b[i + 1] & 0x3f);
        if (first < 0x10 || first > 0x10f || !isTail(b[i + 2]) || !isTail(b[i + 3])) {
          throw notUtf8(i); // below U+10000, or above U+10FFFF
        }
      }
      i += length;
    }
    return i;
  }

  /** {@return the bytes of the character that a byte of valid UTF-8 begins} */
  static int length(byte lead) {
    if (lead >= 0) {
      return 1;
    }
    int bits = lead & 0xff;
    return bits < 0xe0 ? 2 : bits < 0xf0 ? 3 : 4;
  }

  /**
   * {@return the code point that begins at a byte of valid UTF-8}
   *
   * @param b the array
   * @param i index of its first byte
   */
  static int codePoint(byte[] b, int i) {
    int lead = b[i];
    return switch (length(b[i])) {
      case 1 -> lead;
      case 2 -> ((lead & 0x1f) << 6) | (b[i + 1] & 0x3f);
      case 3 -> ((lead & 0xf) << 12) | ((b[i + 1] & 0x3f) << 6) | (b[i + 2] & 0x3f);
      default ->
          ((lead & 7) << 18)
              | ((b[i + 1] & 0x3f) << 12)
              | ((b[i + 2] & 0x3f) << 6)
              | (b[i + 3] & 0x3f);
    };
  }

  /**
   * Encodes a code point; a surrogate, too, which UTF-8 does not allow.
   *
   * @param codePoint the code point
   * @param to receives its bytes from index 0 on, at least {@link #MAX_LENGTH} long
   * @return the number of its bytes
   */
  static int encode(int codePoint, byte[] to) {
    if (codePoint < 0x80) {
      to[0] = (byte) codePoint;
      return 1;
    }
    int length = codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    int rest = codePoint;
    for (int i = length - 1; i > 0; i--) {
      to[i] = (byte) (0x80 | (rest & 0x3f));
      rest >>>= 6;
    }
    to[0] = (byte) ((0xf00 >>> length) | rest);
    return length;
  }

  private static boolean isTail(byte c) {
    return c < (byte) 0xc0;
  }

  private static JsonException notUtf8(int index) {
    return new JsonException(JsonException.Kind.UTF8, index, "it is not valid UTF-8");
  }
}
