package io.kvasir.gateway.events;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ZMQ publisher (ZMTP 3.0, mechanism NULL) that sends every message to every subscriber and
 * interprets nothing that a subscriber sends after its handshake. So subscriptions cost nothing,
 * and a hostile client can neither fill the memory nor stop the publisher: bytes are read into one
 * buffer and dropped, connections are limited, and one that does not read its messages is closed.
 *
 * <p>Confined to one thread, except for {@link #wakeUp}.
 */
final class WriteOnlyPublisher implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(WriteOnlyPublisher.class);

  private static final String SCHEME = "tcp://";
  private static final int BACKLOG = 128;
  private static final int READ_BYTES = 1 << 16;
  private static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Connections of all subscribers, and of those at one address. */
  static final int MAX_CONNECTIONS = 256;

  static final int MAX_CONNECTIONS_OF_ADDRESS = 32;

  private static final int MAX_SHORT_FRAME = 255;
  private static final byte MORE = 1;
  private static final byte LONG = 2;

  private final String endpoint;
  private final Acceptor acceptor;
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(READ_BYTES);
  private final List<SubscriberChannel> subscribers = new ArrayList<>();
  private final InetSocketAddress address;
  private volatile Selector selector;
  private SelectionKey key;
  private boolean paused;
  private long acceptsNs;

  /** Accepts a connection. */
  @FunctionalInterface
  interface Acceptor {

    /** Returns null if there is none. */
    @Nullable SocketChannel accept(ServerSocketChannel from) throws IOException;
  }

  /**
   * Binds the endpoint.
   *
   * @param endpoint {@code tcp://HOST:PORT}; the host {@code *} stands for all addresses
   * @throws IOException if it cannot be bound, with the reason
   */
  WriteOnlyPublisher(String endpoint) throws IOException {
    this(endpoint, ServerSocketChannel::accept);
  }

  /** The same with another way to accept. */
  WriteOnlyPublisher(String endpoint, Acceptor acceptor) throws IOException {
    this.endpoint = endpoint;
    this.acceptor = acceptor;
    this.address = address(endpoint);
    this.selector = Selector.open();
    this.key = bind(selector);
  }

  private static InetSocketAddress address(String endpoint) {
    int colon = endpoint.lastIndexOf(':');
    String host = endpoint.substring(SCHEME.length(), colon);
    int port = Integer.parseInt(endpoint.substring(colon + 1));
    return host.equals("*") ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
  }

  private SelectionKey bind(Selector with) throws IOException {
    ServerSocketChannel made = ServerSocketChannel.open();
    try {
      made.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      made.configureBlocking(false);
      made.bind(address, BACKLOG);
      return made.register(with, SelectionKey.OP_ACCEPT);
    } catch (IOException | RuntimeException e) {
      made.close();
      with.close();
      throw new IOException(endpoint + " cannot be bound: " + reason(e), e);
    }
  }

  private String reason(Exception failure) {
    return address.isUnresolved() ? "unknown host" : String.valueOf(failure.getMessage());
  }

  /** Closes all connections and binds the endpoint again. */
  void reopen() throws IOException {
    close();
    Selector made = Selector.open();
    key = bind(made);
    selector = made;
    paused = false;
  }

  /** Ends a {@link #poll} that waits, or the next one at once. Any thread. */
  void wakeUp() {
    selector.wakeup();
  }

  /** {@return the port to which it is bound} */
  int port() {
    return ((ServerSocketChannel) key.channel()).socket().getLocalPort();
  }

  /** {@return the number of connections} */
  int connections() {
    return subscribers.size();
  }

  /** {@return the number of connections whose handshake is over} */
  long ready() {
    return subscribers.stream().filter(SubscriberChannel::isReady).count();
  }

  /**
   * Sends a message to all subscribers that are connected. Bytes that cannot be sent at once wait;
   * a subscriber with too many of them is closed.
   *
   * @param frames the frames of the message
   */
  void send(byte[]... frames) {
    byte[] message = encode(frames);
    for (SubscriberChannel subscriber : List.copyOf(subscribers)) {
      if (subscriber.isReady()) {
        subscriber.send(message);
      }
    }
    removeClosed();
  }

  private static byte[] encode(byte[]... frames) {
    int length = 0;
    for (byte[] frame : frames) {
      length = Math.addExact(length, frame.length + 1 + (isLong(frame) ? Long.BYTES : 1));
    }
    ByteBuffer out = ByteBuffer.allocate(length);
    for (int i = 0; i < frames.length; i++) {
      byte more = i < frames.length - 1 ? MORE : 0;
      if (isLong(frames[i])) {
        out.put((byte) (more | LONG)).putLong(frames[i].length);
      } else {
        out.put(more).put((byte) frames[i].length);
      }
      out.put(frames[i]);
    }
    return out.array();
  }

  private static boolean isLong(byte[] frame) {
    return frame.length > MAX_SHORT_FRAME;
  }

  /**
   * Accepts, reads and writes what is ready, and waits for it.
   *
   * @param timeoutNs the longest wait, in nanoseconds; at most 0 for none
   * @throws IOException if the selector fails
   */
  void poll(long timeoutNs) throws IOException {
    long timeoutMs =
        TimeUnit.NANOSECONDS.toMillis(paused ? Math.min(timeoutNs, ACCEPT_PAUSE_NS) : timeoutNs);
    if (timeoutMs <= 0) {
      selector.selectNow();
    } else {
      selector.select(timeoutMs);
    }
    long nowNs = System.nanoTime();
    if (paused && nowNs - acceptsNs >= 0) {
      pause(false);
    }
    for (SelectionKey key : selector.selectedKeys()) {
      if (!key.isValid()) {
        continue;
      }
      if (key.attachment() instanceof SubscriberChannel subscriber) {
        subscriber.onReady(scratch);
      } else {
        accept(nowNs);
      }
    }
    selector.selectedKeys().clear();
    subscribers.forEach(subscriber -> subscriber.check(nowNs));
    removeClosed();
  }

  private void accept(long nowNs) {
    SocketChannel channel;
    try {
      channel = acceptor.accept((ServerSocketChannel) key.channel());
    } catch (IOException e) { // too many open files, for example
      LOG.debug("a connection to {} cannot be accepted", endpoint, e);
      acceptsNs = nowNs + ACCEPT_PAUSE_NS;
      pause(true);
      return;
    }
    if (channel == null) {
      return;
    }
    try {
      InetAddress from = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
      long ofAddress = subscribers.stream().filter(other -> other.isFrom(from)).count();
      if (subscribers.size() >= MAX_CONNECTIONS || ofAddress >= MAX_CONNECTIONS_OF_ADDRESS) {
        channel.close();
        return;
      }
      subscribers.add(new SubscriberChannel(channel, selector, from, nowNs));
    } catch (IOException e) { // it has ended already
      LOG.debug("a connection to {} is gone", endpoint, e);
    }
  }

  /** Accepts nothing for a moment: the connection still waits, and select would return at once. */
  private void pause(boolean now) {
    paused = now;
    key.interestOps(now ? 0 : SelectionKey.OP_ACCEPT);
  }

  private void removeClosed() {
    subscribers.removeIf(SubscriberChannel::isClosed);
  }

  /** Closes the endpoint and all connections. */
  @Override
  public void close() {
    subscribers.forEach(SubscriberChannel::close);
    subscribers.clear();
    try {
      key.channel().close();
      selector.close();
    } catch (IOException e) {
      LOG.debug("{} cannot be closed", endpoint, e);
    }
  }

  /** The first 64 bytes of a ZMTP 3.0 connection with the mechanism NULL. */
  static byte[] greeting() {
    ByteBuffer out = ByteBuffer.allocate(SubscriberChannel.GREETING_BYTES);
    out.put((byte) 0xff).putLong(1).put((byte) 0x7f); // signature
    out.put((byte) 3).put((byte) 0);
    out.put("NULL".getBytes(StandardCharsets.US_ASCII));
    return out.array();
  }

  /** The command that ends the handshake. */
  static byte[] readyCommand() {
    byte[] name = "\5READY".getBytes(StandardCharsets.US_ASCII);
    byte[] property = "\13Socket-Type".getBytes(StandardCharsets.US_ASCII);
    byte[] type = "PUB".getBytes(StandardCharsets.US_ASCII);
    int length = name.length + property.length + Integer.BYTES + type.length;
    ByteBuffer out = ByteBuffer.allocate(2 + length);
    out.put((byte) 4).put((byte) length); // a short command
    out.put(name).put(property).putInt(type.length).put(type);
    return out.array();
  }
}
