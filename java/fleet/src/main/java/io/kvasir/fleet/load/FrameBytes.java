package io.kvasir.fleet.load;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The envelope of frames: a mark, a version, the sender's id, a body, and the CRC-32C of all bytes
 * before it. All numbers are little-endian. Stateless.
 */
final class FrameBytes {

  private static final byte VERSION = 1;
  private static final int HEAD_BYTES = 4 + 1 + 8;
  private static final int CRC_BYTES = 4;

  private FrameBytes() {}

  /**
   * A frame to be filled with its body.
   *
   * @throws ArithmeticException if it would be too large for an array
   */
  static ByteBuffer begin(int mark, long routerId, int bodyBytes) {
    int length = Math.addExact(HEAD_BYTES + CRC_BYTES, bodyBytes);
    ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    return out.putInt(mark).put(VERSION).putLong(routerId);
  }

  /** The bytes of a frame whose body is complete. */
  static byte[] end(ByteBuffer out) {
    CRC32C crc = new CRC32C();
    crc.update(out.duplicate().flip());
    out.putInt((int) crc.getValue());
    byte[] bytes = new byte[out.flip().remaining()];
    out.get(bytes);
    return bytes;
  }

  /** The mark of a frame; 0 if it is too short. */
  static int mark(byte[] bytes) {
    return bytes.length < HEAD_BYTES + CRC_BYTES
        ? 0
        : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }

  /**
   * The sender's id.
   *
   * @throws IllegalArgumentException if it is too short
   */
  static long routerId(byte[] bytes) {
    if (bytes.length < HEAD_BYTES + CRC_BYTES) {
      throw new IllegalArgumentException("a frame of " + bytes.length + " bytes is too short");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(5);
  }

  /**
   * Reads the head.
   *
   * @return the sender's id and the body
   * @throws IllegalArgumentException if it is no frame with this mark
   */
  static ByteBuffer open(byte[] bytes, int mark) {
    if (bytes.length < HEAD_BYTES + CRC_BYTES) {
      throw new IllegalArgumentException("a frame of " + bytes.length + " bytes is too short");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (in.getInt(0) != mark || in.get(4) != VERSION) {
      throw new IllegalArgumentException("a frame must begin with its mark and version " + VERSION);
    }
    int end = bytes.length - CRC_BYTES;
    if (in.getInt(end) != crc(bytes)) {
      throw new IllegalArgumentException("the frame's checksum is wrong");
    }
    return in.limit(end).position(5);
  }

  /** Of all bytes before the checksum's place. */
  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length - CRC_BYTES);
    return (int) crc.getValue();
  }
}
