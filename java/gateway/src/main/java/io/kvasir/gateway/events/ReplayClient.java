package io.kvasir.gateway.events;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Asks the replay socket of one rank for its recent batches. Both framings of engines are read:
 * with and without the topic before the number.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class ReplayClient {

  /** The number in the message that ends a replay. */
  private static final long END = -1;

  private final ZContext context;
  private final HostNames names;
  private final String endpoint;
  private ZMQ.@Nullable Socket socket;
  private long number;
  private byte[] payload = {};

  /** What a message of the replay socket was. */
  enum Reply {
    /** There is no message. */
    NONE,
    BATCH,
    /** The replay is complete. */
    END,
    /** Neither a batch nor an end. */
    INVALID
  }

  ReplayClient(ZContext context, HostNames names, String endpoint) {
    this.context = context;
    this.names = names;
    this.endpoint = endpoint;
  }

  /** The socket, to wait for replies; null before the first question. */
  ZMQ.@Nullable Socket socket() {
    return socket;
  }

  /**
   * Asks for all batches from a number on.
   *
   * @return false if the question cannot be sent now
   */
  boolean ask(long from, long nowNs) {
    ZMQ.Socket to = socket;
    if (to == null) {
      String address = names.resolve(endpoint, nowNs);
      if (address == null) {
        return false;
      }
      to = Sockets.unconnected(context, SocketType.DEALER);
      to.connect(address);
      socket = to;
    }
    byte[] start = ByteBuffer.allocate(Long.BYTES).putLong(from).array();
    return to.send(new byte[0], ZMQ.SNDMORE | ZMQ.DONTWAIT) && to.send(start, ZMQ.DONTWAIT);
  }

  /** Takes the next message, if there is one. */
  Reply receive() {
    ZMQ.Socket from = socket;
    byte[] first = from == null ? null : from.recv(ZMQ.DONTWAIT);
    if (from == null || first == null) {
      return Reply.NONE;
    }
    byte[][] frames = {first, null, null, null};
    int count = 1;
    while (from.hasReceiveMore()) {
      byte[] frame = from.recv(ZMQ.DONTWAIT);
      if (count < frames.length) {
        frames[count] = frame;
      }
      count++;
    }
    boolean valid = (count == 3 || count == 4) && first.length == 0;
    byte[] numberFrame = valid ? frames[count - 2] : null;
    byte[] payloadFrame = valid ? frames[count - 1] : null;
    if (numberFrame == null || payloadFrame == null || numberFrame.length != Long.BYTES) {
      return Reply.INVALID;
    }
    number = ByteBuffer.wrap(numberFrame).getLong();
    payload = payloadFrame;
    if (number == END && payload.length == 0) {
      return Reply.END;
    }
    return number < 0 ? Reply.INVALID : Reply.BATCH;
  }

  /** The number of the batch that was received last. */
  long number() {
    return number;
  }

  /** The payload of the batch that was received last. */
  byte[] payload() {
    return payload;
  }

  /** Closes the socket, and with it drops replies that are still to come. */
  void reset() {
    if (socket != null) {
      socket.close();
      socket = null;
    }
  }
}
