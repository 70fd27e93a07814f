package io.kvasir.fleet.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads MessagePack values one after the other from a range of a byte array. Creates no objects.
 * Never reads outside the range: a declared length or count that the remaining bytes cannot hold is
 * malformed. Not thread-safe.
 */
final class MessagePackReader {

  /** Containers inside one value that {@link #skip} follows before it reports {@code NESTED}. */
  static final int MAX_DEPTH = 16;

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  /** Bytes of a value by its first byte, where that alone says so; else 0. */
  private static final byte[] SIZES = sizes();

  private static final byte UINT8 = (byte) 0xcc;
  private static final byte UINT16 = (byte) 0xcd;
  private static final byte UINT32 = (byte) 0xce;

  private static byte[] sizes() {
    byte[] sizes = new byte[256];
    for (int head = 0; head < 256; head++) {
      boolean small = head < 0x80 || head >= 0xe0 || head == 0xc0 || head == 0xc2 || head == 0xc3;
      boolean text = head >= 0xa0 && head < 0xc0;
      boolean number = head >= 0xcc && head < 0xd4;
      sizes[head] =
          (byte) (small ? 1 : text ? 1 + (head & 0x1f) : number ? 1 + (1 << (head & 3)) : 0);
    }
    sizes[0xca] = 1 + Float.BYTES;
    sizes[0xcb] = 1 + Double.BYTES;
    return sizes;
  }

  private final long[] left = new long[MAX_DEPTH + 1];

  private byte[] bytes = {};
  private int position;
  private int end;

  private long number;
  private boolean beyondLong;
  private int length;
  private int valueFrom;

  void reset(byte[] payload, int from, int to) {
    bytes = payload;
    position = from;
    end = to;
  }

  byte[] bytes() {
    return bytes;
  }

  int position() {
    return position;
  }

  void seek(int newPosition) {
    position = newPosition;
  }

  boolean atEnd() {
    return position == end;
  }

  /** The 64 bits of the last integer, or of the last float as a double. */
  long number() {
    return number;
  }

  /** Whether the last integer is above the range of a signed number. */
  boolean beyondLong() {
    return beyondLong;
  }

  /** Bytes of the last text, bytes or extension; elements of an array; entries of a map. */
  int length() {
    return length;
  }

  /** Where the content of the last text, bytes or extension begins. */
  int valueFrom() {
    return valueFrom;
  }

  /** Reads a value, of a container only its head. */
  WireType next() throws SkipException {
    if (position >= end) {
      throw new SkipException(SkipCause.MALFORMED);
    }
    int head = bytes[position++] & 0xff;
    if (head < 0x80 || head >= 0xe0) {
      return integer((byte) head);
    }
    if (head < 0x90) {
      return container(WireType.MAP, head & 0x0f);
    }
    if (head < 0xa0) {
      return container(WireType.ARRAY, head & 0x0f);
    }
    if (head < 0xc0) {
      return content(WireType.TEXT, head & 0x1f);
    }
    return switch (head) {
      case 0xc0 -> WireType.NIL;
      case 0xc2, 0xc3 -> WireType.BOOLEAN;
      case 0xc4, 0xc5, 0xc6 -> content(WireType.BYTES, unsigned(1 << (head - 0xc4)));
      case 0xc7, 0xc8, 0xc9 -> content(WireType.EXTENSION, 1 + unsigned(1 << (head - 0xc7)));
      case 0xca -> floating(Float.intBitsToFloat(signed32()));
      case 0xcb -> floating(Double.longBitsToDouble(unsigned(8)));
      case 0xcc, 0xcd, 0xce -> integer(unsigned(1 << (head - 0xcc)));
      case 0xcf -> unsignedLong();
      case 0xd0 -> integer((byte) unsigned(1));
      case 0xd1 -> integer((short) unsigned(2));
      case 0xd2 -> integer(signed32());
      case 0xd3 -> integer(unsigned(8));
      case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 -> content(WireType.EXTENSION, 1 + (1L << (head - 0xd4)));
      case 0xd9, 0xda, 0xdb -> content(WireType.TEXT, unsigned(1 << (head - 0xd9)));
      case 0xdc, 0xdd -> container(WireType.ARRAY, unsigned(2 << (head - 0xdc)));
      case 0xde, 0xdf -> container(WireType.MAP, unsigned(2 << (head - 0xde)));
      default -> throw new SkipException(SkipCause.MALFORMED); // 0xc1
    };
  }

  private WireType unsignedLong() throws SkipException {
    integer(unsigned(8));
    beyondLong = number < 0;
    return WireType.INTEGER;
  }

  private int signed32() throws SkipException {
    return (int) unsigned(4);
  }

  private WireType integer(long value) {
    number = value;
    beyondLong = false;
    return WireType.INTEGER;
  }

  private WireType floating(double value) {
    number = Double.doubleToRawLongBits(value);
    return WireType.FLOAT;
  }

  private WireType content(WireType of, long size) throws SkipException {
    if (size > end - position) {
      throw new SkipException(SkipCause.MALFORMED);
    }
    length = (int) size;
    valueFrom = position;
    position += length;
    return of;
  }

  private WireType container(WireType of, long count) throws SkipException {
    long values = of == WireType.MAP ? 2 * count : count;
    if (values > end - position) {
      throw new SkipException(SkipCause.MALFORMED);
    }
    length = (int) count;
    return of;
  }

  /** A big-endian number of 1, 2, 4 or 8 bytes. */
  private long unsigned(int size) throws SkipException {
    if (size > end - position) {
      throw new SkipException(SkipCause.MALFORMED);
    }
    long value = 0;
    for (int i = 0; i < size; i++) {
      value = value << 8 | (bytes[position++] & 0xff);
    }
    return value;
  }

  /** Skips a value. O(its bytes), without recursion, whatever it contains. */
  void skip() throws SkipException {
    if (skipped()) {
      throw new SkipException(SkipCause.NESTED);
    }
  }

  /**
   * Skips a value however deep it is.
   *
   * @return whether it is nested deeper than {@link #MAX_DEPTH}
   */
  boolean skipped() throws SkipException {
    boolean deep = false;
    int depth = 0;
    left[0] = 1;
    while (true) {
      left[depth] -= skippedScalars(left[depth]);
      while (left[depth] == 0) {
        if (depth == 0) {
          return deep;
        }
        depth--;
      }
      left[depth]--;
      WireType next = next();
      if (next != WireType.ARRAY && next != WireType.MAP) {
        continue;
      }
      long values = next == WireType.MAP ? 2L * length : length;
      if (depth < MAX_DEPTH) {
        left[++depth] = values;
      } else { // the deeper values are counted among the siblings of their container
        deep = true;
        left[depth] += values;
      }
    }
  }

  /** Skips values up to some number, as long as their first byte tells their size. */
  private int skippedScalars(long most) {
    int at = position;
    int skipped = 0;
    for (; skipped < most && at < end; skipped++) {
      int size = SIZES[bytes[at] & 0xff];
      if (size == 0 || size > end - at) {
        break;
      }
      at += size;
    }
    position = at;
    return skipped;
  }

  /** Reads the head of an array and returns its length; -1 for nil. */
  int array() throws SkipException {
    WireType next = next();
    if (next != WireType.ARRAY && next != WireType.NIL) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    return next == WireType.NIL ? -1 : length;
  }

  /** Reads an integer from 0 to a bound; -1 for nil. */
  int smallInteger(int most) throws SkipException {
    WireType next = next();
    if (next == WireType.NIL) {
      return -1;
    }
    if (next != WireType.INTEGER || number < 0 || number > most) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    return (int) number;
  }

  /** Whether the last text equals another. */
  boolean textIs(byte[] other) {
    return length == other.length
        && Arrays.equals(bytes, valueFrom, valueFrom + length, other, 0, length);
  }

  /**
   * Reads integers from 0 to 2<sup>31</sup> - 1 in their short forms, as far as there are such.
   *
   * @param to receives them
   * @param from index of the first one in {@code to}
   * @param until where to stop in {@code to}
   * @return the index after the last one
   */
  int tokens(int[] to, int from, int until) {
    int at = position;
    int i = from;
    for (; i < until && at < end; i++) {
      int head = bytes[at];
      if (head >= 0) {
        to[i] = head;
        at++;
      } else if (head == UINT16 && end - at > 2) {
        to[i] = (short) SHORTS.get(bytes, at + 1) & 0xffff;
        at += 3;
      } else if (head == UINT32 && end - at > 4 && bytes[at + 1] >= 0) {
        to[i] = (int) INTS.get(bytes, at + 1);
        at += 5;
      } else if (head == UINT8 && end - at > 1) {
        to[i] = bytes[at + 1] & 0xff;
        at += 2;
      } else {
        break;
      }
    }
    position = at;
    return i;
  }
}
