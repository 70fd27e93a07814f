package io.kvasir.fleet.wire;

import io.kvasir.model.Digest64;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** 64-bit numbers that stand for bytes of a payload. Stateless. */
final class WireHashes {

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int HEX_DIGITS = 2 * Long.BYTES;

  private WireHashes() {}

  /**
   * A block hash that is given as bytes: the last eight, big-endian.
   *
   * @param bytes an array that holds the hash
   * @param from its first byte
   * @param to its end
   * @return the number; shorter hashes are padded with zeros in front
   */
  static long ofHash(byte[] bytes, int from, int to) {
    if (to - from >= Long.BYTES) {
      return (long) LONGS.get(bytes, to - Long.BYTES);
    }
    long value = 0;
    for (int i = from; i < to; i++) {
      value = value << 8 | (bytes[i] & 0xff);
    }
    return value;
  }

  /** A block hash that is given as a text. Hexadecimal digits stand for the bytes they spell. */
  static long ofHashText(byte[] bytes, int from, int to) {
    if (to - from < HEX_DIGITS) {
      return ofHash(bytes, from, to);
    }
    long value = 0;
    for (int i = to - HEX_DIGITS; i < to; i++) {
      int digit = bytes[i] < 0 ? -1 : Character.digit(bytes[i], 16);
      if (digit < 0) {
        return ofHash(bytes, from, to);
      }
      value = value << 4 | digit;
    }
    return value;
  }

  /** A digest of bytes that mean nothing here. */
  static long digest(byte[] bytes, int from, int to) {
    long digest = Digest64.fold(Digest64.EMPTY, to - from);
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      digest = Digest64.fold(digest, (long) LONGS.get(bytes, at));
    }
    return at == to ? digest : Digest64.fold(digest, ofHash(bytes, at, to));
  }

  /** A digest of a text that ignores the case of ASCII letters. */
  static long digestIgnoringCase(byte[] bytes, int from, int to) {
    long digest = Digest64.EMPTY;
    for (int i = from; i < to; i++) {
      int letter = bytes[i];
      digest = Digest64.fold(digest, letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter);
    }
    return digest;
  }
}
