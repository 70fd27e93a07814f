package io.kvasir.gateway.events;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to a {@link WriteOnlyPublisher}. Of what comes in, only the number of bytes
 * counts: after the 64 of the greeting the subscriber can take messages.
 *
 * <p>Confined to the publisher's thread.
 */
final class SubscriberChannel {

  private static final Logger LOG = LoggerFactory.getLogger(SubscriberChannel.class);

  static final int GREETING_BYTES = 64;

  private static final byte SHORT_COMMAND = 4;

  /** Bytes that may wait for a subscriber. Messages are shared by all for which they wait. */
  static final int MAX_WAITING_BYTES = 32 << 20;

  /** Bytes that a subscriber may send in {@link #PATIENCE_NS}; subscriptions and pings are few. */
  private static final int MAX_RECEIVED_BYTES = 1 << 16;

  /** Time in which a subscriber must greet, and in which what waits must get smaller. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

  private final SocketChannel channel;
  private final SelectionKey key;
  private final InetAddress from;
  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private long waitingBytes;

  /** Bytes of the handshake that have come, and how many it has once that is known. */
  private int greeted;

  private int handshakeBytes = Integer.MAX_VALUE;
  private long receivedBytes;
  private long receivedSinceNs;
  private boolean ready;
  private long progressNs;
  private boolean progressed;
  private boolean closed;

  /**
   * Greets.
   *
   * @throws IOException if the connection has ended; it is closed then
   */
  SubscriberChannel(SocketChannel channel, Selector selector, InetAddress from, long nowNs)
      throws IOException {
    this.channel = channel;
    this.from = from;
    this.progressNs = nowNs;
    this.receivedSinceNs = nowNs;
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      key = channel.register(selector, SelectionKey.OP_READ, this);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    send(WriteOnlyPublisher.greeting());
  }

  boolean isFrom(InetAddress address) {
    return isSameClient(from, address);
  }

  /** Whether two addresses count as one: of IPv6, a client has all with the same first 64 bits. */
  static boolean isSameClient(InetAddress one, InetAddress other) {
    byte[] first = one.getAddress();
    byte[] second = other.getAddress();
    int bytes = one instanceof Inet6Address ? Long.BYTES : first.length;
    return first.length == second.length && Arrays.mismatch(first, 0, bytes, second, 0, bytes) < 0;
  }

  /** Whether the handshake is over. */
  boolean isReady() {
    return ready;
  }

  boolean isClosed() {
    return closed;
  }

  /** Sends bytes, or lets them wait. */
  void send(byte[] bytes) {
    if (closed) {
      return;
    }
    waiting.add(ByteBuffer.wrap(bytes));
    waitingBytes += bytes.length;
    write();
    if (waitingBytes > MAX_WAITING_BYTES) {
      LOG.debug("{} does not read", from);
      close();
    }
  }

  /** The connection can be read or written. */
  void onReady(ByteBuffer scratch) {
    if (key.isValid() && key.isReadable()) {
      read(scratch);
    }
    if (key.isValid() && key.isWritable()) {
      write();
    }
  }

  private void read(ByteBuffer scratch) {
    try {
      int count = channel.read(scratch.clear());
      if (count < 0) {
        close();
        return;
      }
      receivedBytes += count;
    } catch (IOException e) {
      LOG.debug("{} has reset its connection", from, e);
      close();
      return;
    }
    if (receivedBytes > MAX_RECEIVED_BYTES) {
      LOG.debug("{} sends more than a subscriber does", from);
      close();
      return;
    }
    scratch.flip();
    while (!ready && !closed && scratch.hasRemaining()) {
      handshake(scratch.get());
    }
  }

  private void handshake(byte next) {
    int at = greeted++;
    if (at == GREETING_BYTES && next != SHORT_COMMAND) {
      close();
      return;
    }
    if (at == GREETING_BYTES + 1) {
      handshakeBytes = GREETING_BYTES + 2 + Byte.toUnsignedInt(next);
    }
    if (greeted == GREETING_BYTES) {
      send(WriteOnlyPublisher.readyCommand());
    }
    ready = greeted == handshakeBytes;
  }

  private void write() {
    try {
      while (!waiting.isEmpty()) {
        ByteBuffer next = waiting.getFirst();
        int count = channel.write(next);
        waitingBytes -= count;
        progressed |= count > 0;
        if (next.hasRemaining()) {
          break;
        }
        waiting.removeFirst();
      }
      key.interestOps(
          waiting.isEmpty() ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    } catch (IOException e) {
      LOG.debug("{} has reset its connection", from, e);
      close();
    }
  }

  /** Closes the connection if it has not moved for too long. */
  void check(long nowNs) {
    if (nowNs - receivedSinceNs > PATIENCE_NS) {
      receivedSinceNs = nowNs;
      receivedBytes = 0;
    }
    if (progressed || (ready && waiting.isEmpty())) {
      progressed = false;
      progressNs = nowNs;
    } else if (nowNs - progressNs > PATIENCE_NS) {
      close();
    }
  }

  void close() {
    if (closed) {
      return;
    }
    closed = true;
    waiting.clear();
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("a connection cannot be closed", e);
    }
  }
}
