package io.kvasir.gateway.events;

import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Makes the sockets of event streams. Stateless. */
final class Sockets {

  /** Largest message accepted; a larger one costs its sender the connection. */
  private static final long MAX_MESSAGE_BYTES = 64L << 20;

  /** Messages that wait in a socket before TCP holds the engine back. */
  private static final int RECEIVE_LIMIT = 20_000;

  private static final int HEARTBEAT_MS = 1_000;
  private static final int HEARTBEAT_TIMEOUT_MS = 3_000;

  /** JeroMQ sometimes misses a message of the handshake, and would wait 30 seconds for it. */
  private static final int HANDSHAKE_MS = 1_000;

  private static final int RECONNECT_MS = 100;
  private static final int RECONNECT_MAX_MS = 1_000;

  private Sockets() {}

  /** A socket without an endpoint. Once it has one, it connects again whenever it loses it. */
  static ZMQ.Socket unconnected(ZContext context, SocketType type) {
    ZMQ.Socket socket = context.createSocket(type);
    socket.setLinger(0);
    socket.setIPv6(true); // and IPv4
    socket.setRcvHWM(RECEIVE_LIMIT);
    socket.setMaxMsgSize(MAX_MESSAGE_BYTES);
    socket.setHeartbeatIvl(HEARTBEAT_MS);
    socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MS);
    socket.setHandshakeIvl(HANDSHAKE_MS);
    socket.setReconnectIVL(RECONNECT_MS);
    socket.setReconnectIVLMax(RECONNECT_MAX_MS);
    return socket;
  }

  /**
   * A socket that engines connect to.
   *
   * @throws org.zeromq.ZMQException if the endpoint cannot be bound
   */
  static ZMQ.Socket bound(ZContext context, SocketType type, String endpoint) {
    ZMQ.Socket socket = unconnected(context, type);
    try {
      socket.bind(endpoint);
      return socket;
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }
}
