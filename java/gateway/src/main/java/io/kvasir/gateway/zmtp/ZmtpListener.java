package io.kvasir.gateway.zmtp;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bound endpoint and the peers that wait at it, not greeted, in the order in which they came. One
 * that has given up ends as soon as it is read.
 *
 * <p>Confined to the thread of its {@link ZmtpLoop}.
 */
final class ZmtpListener {

  private static final Logger LOG = LoggerFactory.getLogger(ZmtpListener.class);

  /** Peers that wait; one more takes the place of the oldest. */
  private static final int MAX_WAITING = 4;

  private final ServerSocketChannel server;
  private final Deque<SocketChannel> waiting = new ArrayDeque<>();

  /**
   * Binds an address.
   *
   * @throws IOException if it cannot be bound
   */
  ZmtpListener(ZmtpLoop loop, SocketAddress address) throws IOException {
    server = ServerSocketChannel.open();
    try {
      server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      server.bind(address);
      loop.register(server, SelectionKey.OP_ACCEPT, this::accept);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private void accept() {
    try {
      SocketChannel accepted = server.accept();
      if (accepted != null) {
        waiting.addLast(accepted);
        if (waiting.size() > MAX_WAITING) {
          waiting.removeFirst().close();
        }
      }
    } catch (IOException e) {
      LOG.debug("a peer is gone", e);
    }
  }

  /** How many peers wait. */
  int waiting() {
    return waiting.size();
  }

  /** The next peer; null if none waits. */
  @Nullable SocketChannel next() {
    return waiting.pollFirst();
  }

  void close() throws IOException {
    while (!waiting.isEmpty()) {
      waiting.removeFirst().close();
    }
    server.close();
  }
}
