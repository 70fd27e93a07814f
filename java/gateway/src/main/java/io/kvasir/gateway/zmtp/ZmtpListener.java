package io.kvasir.gateway.zmtp;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
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

  /** After a failure, such as too many open files, no peer is accepted for so long. */
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final ServerSocketChannel server;
  private final ZmtpLoop loop;
  private final Acceptor acceptor;
  private final SelectionKey key;
  private final Deque<SocketChannel> waiting = new ArrayDeque<>();
  private boolean paused;
  private long notBeforeNs;

  /** Accepts a connection. */
  @FunctionalInterface
  interface Acceptor {

    /** Returns null if there is none. */
    @Nullable SocketChannel accept(ServerSocketChannel from) throws IOException;
  }

  /**
   * Binds an address.
   *
   * @throws IOException if it cannot be bound
   */
  ZmtpListener(ZmtpLoop loop, SocketAddress address) throws IOException {
    this(loop, address, ServerSocketChannel::accept);
  }

  /** The same with another way to accept. */
  ZmtpListener(ZmtpLoop loop, SocketAddress address, Acceptor acceptor) throws IOException {
    this.loop = loop;
    this.acceptor = acceptor;
    server = ServerSocketChannel.open();
    try {
      server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      server.bind(address);
      key = loop.register(server, SelectionKey.OP_ACCEPT, this::accept);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private void accept() {
    try {
      SocketChannel accepted = acceptor.accept(server);
      if (accepted != null) {
        waiting.addLast(accepted);
        if (waiting.size() > MAX_WAITING) {
          waiting.removeFirst().close();
        }
      }
    } catch (IOException e) {
      LOG.debug("a peer cannot be accepted now", e);
      paused = true; // the peer still waits, and the selector would return at once
      notBeforeNs = loop.nowNs() + PAUSE_NS;
      key.interestOps(0);
    }
  }

  /** Accepts again after a pause. */
  void tick(long nowNs) {
    if (paused && nowNs - notBeforeNs >= 0) {
      paused = false;
      key.interestOps(SelectionKey.OP_ACCEPT);
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
