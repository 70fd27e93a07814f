package io.kvasir.gateway.zmtp;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Makes messages and commands of the bytes of one connection after its greeting. A message has at
 * most {@value #MAX_FRAMES} frames of {@value #MAX_MESSAGE_BYTES} bytes together, a command {@value
 * #MAX_COMMAND_BYTES} bytes. Buffers grow with received data, not with an announced length.
 *
 * <p>Commands may come between the frames of a message: libzmq sends heartbeats there.
 *
 * <p>Not thread-safe. O(bytes).
 */
final class FrameDecoder {

  /** Frames of a message. Messages of publishers have three, those of replay sockets up to four. */
  static final int MAX_FRAMES = 4;

  static final int MAX_MESSAGE_BYTES = 16 << 20;
  static final int MAX_COMMAND_BYTES = 8 << 10;

  static final int MORE = 1;
  static final int LONG = 2;
  static final int COMMAND = 4;

  /** The first size of a body's buffer, unless the body is shorter. */
  private static final int FIRST_BYTES = 4 << 10;

  private static final byte[] NONE = {};

  /** What {@link #decode} has found. */
  enum Found {
    /** All bytes were taken, and more are needed. */
    NOTHING,
    MESSAGE,
    COMMAND
  }

  private enum State {
    FLAGS,
    LENGTH,
    BODY
  }

  private final List<byte[]> frames = new ArrayList<>(MAX_FRAMES);
  private int messageBytes;
  private State state = State.FLAGS;
  private int flags;
  private long length;
  private int lengthBytes;
  private byte[] body = NONE;
  private int filled;
  private byte[] command = NONE;

  /**
   * Takes bytes until a message or a command is complete, or none are left.
   *
   * @throws ZmtpException if the bytes are no frames, or exceed a bound
   */
  Found decode(ByteBuffer in) throws ZmtpException {
    while (in.hasRemaining()) {
      switch (state) {
        case FLAGS -> onFlags(in.get());
        case LENGTH -> onLengthByte(in.get());
        case BODY -> fill(in);
      }
      if (state == State.BODY && filled == length) {
        state = State.FLAGS;
        Found found = onFrame();
        if (found != Found.NOTHING) {
          return found;
        }
      }
    }
    return Found.NOTHING;
  }

  private void onFlags(int read) throws ZmtpException {
    flags = read;
    boolean known = (read & ~(MORE | LONG | COMMAND)) == 0;
    if (!known || (read & (MORE | COMMAND)) == (MORE | COMMAND)) {
      throw new ZmtpException("sends what is no frame of ZMTP 3");
    }
    if (!isCommand() && frames.size() == MAX_FRAMES) {
      throw new ZmtpException("sends a message of more than " + MAX_FRAMES + " frames");
    }
    length = 0;
    lengthBytes = (read & LONG) == 0 ? 1 : Long.BYTES;
    state = State.LENGTH;
  }

  private void onLengthByte(byte next) throws ZmtpException {
    length = length << Byte.SIZE | (next & 0xFF);
    lengthBytes--;
    if (lengthBytes > 0) {
      return;
    }
    int most = isCommand() ? MAX_COMMAND_BYTES : MAX_MESSAGE_BYTES - messageBytes;
    if (length < 0 || length > most) {
      throw new ZmtpException(
          isCommand()
              ? "sends a command of more than " + MAX_COMMAND_BYTES + " bytes"
              : "sends a message of more than " + MAX_MESSAGE_BYTES + " bytes");
    }
    body = length == 0 ? NONE : new byte[(int) Math.min(length, FIRST_BYTES)];
    filled = 0;
    state = State.BODY;
  }

  private void fill(ByteBuffer in) {
    if (filled == body.length) {
      body = Arrays.copyOf(body, (int) Math.min(length, 2L * body.length));
    }
    int count = Math.min(in.remaining(), body.length - filled);
    in.get(body, filled, count);
    filled += count;
  }

  private Found onFrame() {
    byte[] complete = body;
    body = NONE;
    if (isCommand()) {
      command = complete;
      return Found.COMMAND;
    }
    frames.add(complete);
    messageBytes += complete.length;
    return (flags & MORE) == 0 ? Found.MESSAGE : Found.NOTHING;
  }

  private boolean isCommand() {
    return (flags & COMMAND) != 0;
  }

  /** Hands out the frames of the message that was found. */
  byte[][] takeMessage() {
    byte[][] message = frames.toArray(byte[][]::new);
    frames.clear();
    messageBytes = 0;
    return message;
  }

  /** The command that was found: the length of its name, its name, and its data. */
  byte[] command() {
    return command;
  }

  /** Bytes of the unfinished message or command. */
  int heldBytes() {
    return messageBytes + body.length;
  }
}
