package io.kvasir.gateway.zmtp;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Bytes that are sent: the greeting, commands and messages. Stateless. */
final class Frames {

  static final int GREETING_BYTES = 64;

  private static final int SHORT_FRAME = 255;
  private static final int VERSION_AT = 10;
  private static final int MECHANISM_AT = 12;
  private static final int MECHANISM_BYTES = 20;
  private static final byte[] NULL = "NULL".getBytes(StandardCharsets.US_ASCII);

  private Frames() {}

  /** A greeting of version 3.0, in which subscriptions are messages, and mechanism NULL. */
  static byte[] greeting() {
    byte[] greeting = new byte[GREETING_BYTES];
    greeting[0] = (byte) 0xFF;
    greeting[8] = 1;
    greeting[9] = 0x7F;
    greeting[VERSION_AT] = 3;
    System.arraycopy(NULL, 0, greeting, MECHANISM_AT, NULL.length);
    return greeting;
  }

  /**
   * Checks the beginning of a peer's greeting. Peers of older versions send no more than that, and
   * wait.
   *
   * @param greeting what has come of it, at least a byte
   * @throws ZmtpException if it has another protocol or an older version
   */
  static void requireVersion(byte[] greeting) throws ZmtpException {
    int count = greeting.length;
    boolean signed = greeting[0] == (byte) 0xFF;
    if (!signed && count > 1) { // in version 1, the length of the first frame and its flags
      throw greeting[1] == 0
          ? new ZmtpVersionException("1.0")
          : new ZmtpException("does not speak ZMTP");
    }
    if (count >= VERSION_AT && (greeting[VERSION_AT - 1] & 1) == 0) { // a long first frame
      throw new ZmtpVersionException("1.0");
    }
    if (count > VERSION_AT && greeting[VERSION_AT] < 3) {
      throw new ZmtpVersionException(greeting[VERSION_AT] == 0 ? "1.0" : "2.0");
    }
  }

  /**
   * Checks a peer's greeting.
   *
   * @throws ZmtpException if it has another protocol, an older version or another mechanism
   */
  static void requireGreeting(byte[] greeting) throws ZmtpException {
    requireVersion(greeting);
    for (int i = 0; i < MECHANISM_BYTES; i++) {
      if (greeting[MECHANISM_AT + i] != (i < NULL.length ? NULL[i] : 0)) {
        throw new ZmtpException("demands authentication");
      }
    }
  }

  /** The command that ends the handshake of mechanism NULL. */
  static byte[] ready(ZmtpRole role) {
    byte[] name = "Socket-Type".getBytes(StandardCharsets.US_ASCII);
    byte[] type = role.name().getBytes(StandardCharsets.US_ASCII);
    ByteBuffer data = ByteBuffer.allocate(1 + name.length + Integer.BYTES + type.length);
    data.put((byte) name.length).put(name).putInt(type.length).put(type);
    return command("READY", data.array());
  }

  /** A command with its frame. */
  static byte[] command(String name, byte[] data) {
    ByteBuffer body = ByteBuffer.allocate(1 + name.length() + data.length);
    body.put((byte) name.length()).put(name.getBytes(StandardCharsets.US_ASCII)).put(data);
    return frame(body.array(), FrameDecoder.COMMAND);
  }

  /** A message with its frames. */
  static byte[] message(byte[]... parts) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    for (int i = 0; i < parts.length; i++) {
      message.writeBytes(frame(parts[i], i < parts.length - 1 ? FrameDecoder.MORE : 0));
    }
    return message.toByteArray();
  }

  private static byte[] frame(byte[] body, int flags) {
    boolean isShort = body.length <= SHORT_FRAME;
    ByteBuffer frame = ByteBuffer.allocate(1 + (isShort ? 1 : Long.BYTES) + body.length);
    if (isShort) {
      frame.put((byte) flags).put((byte) body.length);
    } else {
      frame.put((byte) (flags | FrameDecoder.LONG)).putLong(body.length);
    }
    return frame.put(body).array();
  }

  /** Whether a command has a name. */
  static boolean isNamed(byte[] command, String name) {
    if (command.length <= name.length() || command[0] != name.length()) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      if (command[1 + i] != name.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The socket type that a READY command names; empty if it names none.
   *
   * @throws ZmtpException if its properties are damaged
   */
  static String socketType(byte[] ready) throws ZmtpException {
    ByteBuffer data = ByteBuffer.wrap(ready);
    data.position(1 + ready[0]);
    while (data.hasRemaining()) {
      String name = text(data, data.get() & 0xFF);
      int length = data.remaining() < Integer.BYTES ? -1 : data.getInt();
      String value = text(data, length);
      if (name.equalsIgnoreCase("Socket-Type")) {
        return value;
      }
    }
    return "";
  }

  private static String text(ByteBuffer data, int length) throws ZmtpException {
    if (length < 0 || length > data.remaining()) {
      throw new ZmtpException("sends a damaged READY command");
    }
    byte[] text = new byte[length];
    data.get(text);
    return new String(text, StandardCharsets.ISO_8859_1);
  }
}
