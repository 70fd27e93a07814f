package io.kvasir.testing.harness;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A TCP port of this machine that must be known before a server listens on it. A bound socket that
 * does not listen holds it, so that the system gives it to no other process that asks for a free
 * port. A server that sets {@code SO_REUSEADDR}, as Java's do, can listen on it at any time. Linux
 * only.
 *
 * <p>Thread-safe.
 */
public final class ReservedPort implements AutoCloseable {

  private final Socket holder;

  /**
   * Reserves a free port of all addresses.
   *
   * @throws IOException if there is none
   */
  public ReservedPort() throws IOException {
    holder = new Socket();
    holder.setReuseAddress(true);
    holder.bind(new InetSocketAddress(0));
  }

  /** {@return its number} */
  public int number() {
    return holder.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    holder.close();
  }
}
