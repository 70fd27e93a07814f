package io.kvasir.embedded.publish;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes MessagePack into a growing array. Not thread-safe. */
final class MessagePack {

  private byte[] bytes = new byte[256];
  private int size;

  /** The bytes so far; empties the writer. */
  byte[] take() {
    byte[] taken = Arrays.copyOf(bytes, size);
    size = 0;
    return taken;
  }

  MessagePack array(int elements) {
    return container(elements, 0x90, 0xdc);
  }

  MessagePack map(int entries) {
    return container(entries, 0x80, 0xde);
  }

  private MessagePack container(int elements, int small, int large) {
    if (elements < 16) {
      return put(1, small | elements);
    }
    return elements < 1 << 16 ? put(1, large).put(2, elements) : put(1, large + 1).put(4, elements);
  }

  MessagePack nil() {
    return put(1, 0xc0);
  }

  /** A number that is not negative. */
  MessagePack number(int value) {
    return unsigned(value);
  }

  /** A number of 64 bits without a sign. */
  MessagePack unsigned(long value) {
    if (value >>> 7 == 0) {
      return put(1, value);
    } else if (value >>> 8 == 0) {
      return put(1, 0xcc).put(1, value);
    } else if (value >>> 16 == 0) {
      return put(1, 0xcd).put(2, value);
    } else if (value >>> 32 == 0) {
      return put(1, 0xce).put(4, value);
    }
    return put(1, 0xcf).put(8, value);
  }

  /** A number of 64 bits with a sign. */
  MessagePack signed(long value) {
    if (value >= 0) {
      return unsigned(value);
    } else if (value >= -32) {
      return put(1, value);
    } else if (value == (byte) value) {
      return put(1, 0xd0).put(1, value);
    } else if (value == (short) value) {
      return put(1, 0xd1).put(2, value);
    } else if (value == (int) value) {
      return put(1, 0xd2).put(4, value);
    }
    return put(1, 0xd3).put(8, value);
  }

  MessagePack real(double value) {
    return put(1, 0xcb).put(8, Double.doubleToRawLongBits(value));
  }

  /** A text, in UTF-8 at most 65,535 bytes. */
  MessagePack text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    if (utf8.length < 32) {
      put(1, 0xa0 | utf8.length);
    } else if (utf8.length < 256) {
      put(1, 0xd9).put(1, utf8.length);
    } else {
      put(1, 0xda).put(2, utf8.length);
    }
    return raw(utf8);
  }

  /** At most 255 bytes. */
  MessagePack binary(byte[] value) {
    return put(1, 0xc4).put(1, value.length).raw(value);
  }

  private MessagePack raw(byte[] value) {
    reserve(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
    return this;
  }

  /** The low bytes of a value, most significant first. */
  private MessagePack put(int count, long value) {
    reserve(count);
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
      bytes[size++] = (byte) (value >>> shift);
    }
    return this;
  }

  private void reserve(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
