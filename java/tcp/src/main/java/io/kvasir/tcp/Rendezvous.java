package io.kvasir.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Where a member meets its coordinator.
 *
 * @param coordinator the coordinator's address; a name that is unresolved is looked up at every
 *     attempt
 * @param from the local address of the connection; null for any
 * @param waits whether the coordinator may begin to listen later
 */
record Rendezvous(SocketAddress coordinator, @Nullable InetAddress from, boolean waits) {

  SocketAddress resolved() {
    return coordinator instanceof InetSocketAddress address && address.isUnresolved()
        ? new InetSocketAddress(address.getHostString(), address.getPort())
        : coordinator;
  }
}
