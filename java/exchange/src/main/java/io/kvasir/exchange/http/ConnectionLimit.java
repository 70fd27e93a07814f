package io.kvasir.exchange.http;

import io.kvasir.exchange.ClientAddresses;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Bounds the connections of a server, of all clients and of one. Thread-safe. */
public final class ConnectionLimit {

  private final int max;
  private final int maxOfClient;
  private final AtomicInteger open = new AtomicInteger();
  private final ConcurrentHashMap<String, Integer> clients = new ConcurrentHashMap<>();

  /**
   * Creates a limit without connections.
   *
   * @param max connections of all clients, at least 1
   * @param maxOfClient connections of one client, at least 1
   */
  public ConnectionLimit(int max, int maxOfClient) {
    this.max = max;
    this.maxOfClient = maxOfClient;
  }

  /** {@return a limit that lets every connection in} */
  public static ConnectionLimit none() {
    return new ConnectionLimit(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /**
   * A client connects. If this returns true, {@link #leave} must follow.
   *
   * @param address the client's address
   */
  boolean enter(String address) {
    if (open.incrementAndGet() <= max) {
      int ofClient = clients.merge(ClientAddresses.client(address), 1, Integer::sum);
      if (ofClient <= maxOfClient) {
        return true;
      }
      leave(address);
      return false;
    }
    open.decrementAndGet();
    return false;
  }

  /** A connection that was let in is closed. */
  void leave(String address) {
    open.decrementAndGet();
    Integer unused =
        clients.computeIfPresent(
            ClientAddresses.client(address), (client, count) -> count == 1 ? null : count - 1);
  }

  /** {@return open connections} */
  public int open() {
    return open.get();
  }
}
