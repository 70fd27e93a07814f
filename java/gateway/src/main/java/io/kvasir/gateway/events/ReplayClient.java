package io.kvasir.gateway.events;

import io.kvasir.gateway.zmtp.ZmtpLoop;
import io.kvasir.gateway.zmtp.ZmtpRole;
import io.kvasir.gateway.zmtp.ZmtpSocket;
import io.kvasir.gateway.zmtp.ZmtpSocket.Received;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Asks the replay socket of one rank for its recent batches. Both framings of engines are read:
 * with and without the topic before the number.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class ReplayClient {

  /** The number in the message that ends a replay. */
  private static final long END = -1;

  private static final byte[] EMPTY = {};

  private final ZmtpLoop loop;
  private final HostNames names;
  private final String endpoint;
  private @Nullable ZmtpSocket socket;
  private long number;
  private byte[] payload = EMPTY;

  /** What was received. */
  enum Reply {
    /** There is nothing now. */
    NONE,
    /** Nothing of the answer; there may be more. */
    OTHER,
    /** A part of a message; there may be more. */
    PART,
    BATCH,
    /** The replay is complete. */
    END,
    /** Neither a batch nor an end. */
    INVALID
  }

  ReplayClient(ZmtpLoop loop, HostNames names, String endpoint) {
    this.loop = loop;
    this.names = names;
    this.endpoint = endpoint;
  }

  /** The socket; null before the first question. */
  @Nullable ZmtpSocket socket() {
    return socket;
  }

  /**
   * Asks for all batches from a number on.
   *
   * @return false if the question cannot be sent now
   */
  boolean ask(long from, long nowNs) {
    ZmtpSocket to = socket;
    if (to == null) {
      String address = names.resolve(endpoint, nowNs);
      if (address == null) {
        return false;
      }
      to = new ZmtpSocket(loop, ZmtpRole.DEALER, EMPTY);
      try {
        to.connect(address);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      socket = to;
    }
    to.send(EMPTY, ByteBuffer.allocate(Long.BYTES).putLong(from).array());
    to.tick(nowNs);
    return true;
  }

  /** Connects where needed. */
  void tick(long nowNs) {
    if (socket != null) {
      socket.tick(nowNs);
    }
  }

  /** Takes what comes next, if there is something. */
  Reply receive() {
    Received received = socket == null ? Received.NOTHING : socket.receive();
    if (socket == null || received == Received.NOTHING) {
      return Reply.NONE;
    }
    if (received != Received.MESSAGE) {
      return received == Received.PART ? Reply.PART : Reply.OTHER;
    }
    byte[][] frames = socket.takeMessage();
    int count = frames.length;
    boolean valid =
        (count == 3 || count == 4)
            && frames[0].length == 0
            && frames[count - 2].length == Long.BYTES;
    if (!valid) {
      return Reply.INVALID;
    }
    number = ByteBuffer.wrap(frames[count - 2]).getLong();
    payload = frames[count - 1];
    if (number == END && payload.length == 0) {
      return Reply.END;
    }
    return number < 0 ? Reply.INVALID : Reply.BATCH;
  }

  /** The number of the batch that was received last. */
  long number() {
    return number;
  }

  /** Hands out the payload of the batch that was received last. */
  byte[] takePayload() {
    byte[] taken = payload;
    payload = EMPTY;
    return taken;
  }

  /** Closes the socket, and with it drops replies that are still to come. */
  void reset() {
    if (socket != null) {
      socket.close();
      socket = null;
    }
  }
}
