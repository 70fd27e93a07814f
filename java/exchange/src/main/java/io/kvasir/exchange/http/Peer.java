package io.kvasir.exchange.http;

import io.vertx.core.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a client's connection, written once for all its requests. Immutable.
 *
 * @param address its address without the port; {@code unknown} if the socket has none
 * @param remote its address with the port, for logs
 */
record Peer(String address, String remote) {

  static Peer of(@Nullable SocketAddress remote) {
    String address = remote == null ? null : remote.hostAddress();
    return new Peer(address == null ? "unknown" : address, String.valueOf(remote));
  }
}
