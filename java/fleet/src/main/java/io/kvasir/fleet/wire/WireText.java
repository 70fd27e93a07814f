package io.kvasir.fleet.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A text as a range of bytes that belong to someone else. Empty stands for none. */
final class WireText {

  private byte[] bytes = {};
  private int from;
  private int length;

  void clear() {
    length = 0;
  }

  void set(byte[] newBytes, int newFrom, int newLength) {
    bytes = newBytes;
    from = newFrom;
    length = newLength;
  }

  boolean isEmpty() {
    return length == 0;
  }

  boolean is(WireText other) {
    return is(other.bytes, other.from, other.length);
  }

  boolean is(byte[] other, int otherFrom, int otherLength) {
    return length == otherLength
        && (length == 0
            || Arrays.equals(
                bytes, from, from + length, other, otherFrom, otherFrom + otherLength));
  }

  /** Whether the text is an ASCII text. */
  boolean is(String ascii) {
    if (length != ascii.length()) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (bytes[from + i] != ascii.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** The same text in bytes of its own. */
  WireText copy() {
    WireText copy = new WireText();
    copy.set(Arrays.copyOfRange(bytes, from, from + length), 0, length);
    return copy;
  }

  @Override
  public String toString() {
    return new String(bytes, from, length, StandardCharsets.UTF_8);
  }
}
