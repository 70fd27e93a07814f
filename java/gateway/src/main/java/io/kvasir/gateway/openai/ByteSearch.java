package io.kvasir.gateway.openai;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Searches eight bytes at once. Stateless. */
final class ByteSearch {

  private static final VarHandle VIEW =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long BLANKS = repeated(' ');

  /** A word of backslashes. */
  static final long BACKSLASHES = repeated('\\');

  private ByteSearch() {}

  /** {@return eight bytes of an array, the first in the lowest bits} */
  static long at(byte[] bytes, int index) {
    return (long) VIEW.get(bytes, index);
  }

  /** {@return a word of one ASCII character} */
  static long repeated(char c) {
    return c * ONES;
  }

  /**
   * Marks the bytes of a word that are equal to those of another. Of each group of marks the lowest
   * is exact: a borrow can only add marks above it.
   */
  static long equal(long word, long other) {
    long difference = word ^ other;
    return (difference - ONES) & ~difference & HIGH_BITS;
  }

  /** Marks the bytes that are no ASCII characters from the blank on; see {@link #equal}. */
  static long notPrintable(long word) {
    return (((word - BLANKS) & ~word) | word) & HIGH_BITS;
  }

  /** {@return which of the eight bytes has the lowest mark; there is one} */
  static int first(long marks) {
    return Long.numberOfTrailingZeros(marks) >>> 3;
  }

  /**
   * {@return the index of the first backslash; {@code to} if there is none}
   *
   * @param bytes the array
   * @param from index of the first byte
   * @param to index after the last byte
   */
  static int backslash(byte[] bytes, int from, int to) {
    int i = from;
    for (; i <= to - Long.BYTES; i += Long.BYTES) {
      long found = equal(at(bytes, i), BACKSLASHES);
      if (found != 0) {
        return i + first(found);
      }
    }
    while (i < to && bytes[i] != '\\') {
      i++;
    }
    return i;
  }
}
