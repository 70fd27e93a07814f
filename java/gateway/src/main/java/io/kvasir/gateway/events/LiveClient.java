package io.kvasir.gateway.events;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Receives the live batches of one rank.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class LiveClient {

  private final FeedSpec spec;
  private final HostNames names;
  private final ZMQ.Socket socket;
  private final AtomicBoolean disconnected = new AtomicBoolean();
  private @Nullable String connectedTo;
  private long number;
  private byte[] payload = {};

  /** What a live message was. */
  enum Message {
    /** There is none. */
    NONE,
    BATCH,
    /** It has not three frames, or no number that a batch can have. */
    INVALID
  }

  /**
   * Opens the socket.
   *
   * @throws org.zeromq.ZMQException if the endpoint is to be bound and cannot be
   */
  LiveClient(FeedSpec spec, ZContext context, HostNames names) {
    this.spec = spec;
    this.names = names;
    this.socket =
        spec.bind()
            ? Sockets.bound(context, SocketType.SUB, spec.live())
            : Sockets.unconnected(context, SocketType.SUB);
    socket.setEventHook(event -> disconnected.set(true), ZMQ.EVENT_DISCONNECTED);
    socket.subscribe(spec.topic());
  }

  ZMQ.Socket socket() {
    return socket;
  }

  /** Connects once the engine's address is known, and again when it has changed. */
  void connect(long nowNs) {
    String endpoint = spec.bind() ? null : names.resolve(spec.live(), nowNs);
    if (endpoint == null || endpoint.equals(connectedTo)) {
      return;
    }
    String before = connectedTo;
    connectedTo = endpoint; // an address that fails is not tried again and again
    if (before != null) {
      socket.disconnect(before);
    }
    socket.connect(endpoint);
  }

  /** Takes the next message, if there is one. */
  Message receive() {
    byte[] topic = socket.recv(ZMQ.DONTWAIT);
    if (topic == null) {
      return Message.NONE;
    }
    byte[] numberFrame = socket.hasReceiveMore() ? socket.recv(ZMQ.DONTWAIT) : null;
    byte[] payloadFrame = socket.hasReceiveMore() ? socket.recv(ZMQ.DONTWAIT) : null;
    boolean more = false;
    while (socket.hasReceiveMore()) {
      socket.recv(ZMQ.DONTWAIT);
      more = true;
    }
    if (numberFrame == null || numberFrame.length != Long.BYTES || payloadFrame == null || more) {
      return Message.INVALID;
    }
    number = ByteBuffer.wrap(numberFrame).getLong();
    payload = payloadFrame;
    return number < 0 ? Message.INVALID : Message.BATCH;
  }

  /**
   * Whether a connection ended since the last call. Asked after {@link #receive}, so that the first
   * message of a new connection is never taken for one of the old.
   */
  boolean wasDisconnected() {
    return disconnected.get() && disconnected.getAndSet(false);
  }

  /** The number of the batch that was received last. */
  long number() {
    return number;
  }

  /** The payload of the batch that was received last. */
  byte[] payload() {
    return payload;
  }

  void close() {
    socket.close();
  }
}
