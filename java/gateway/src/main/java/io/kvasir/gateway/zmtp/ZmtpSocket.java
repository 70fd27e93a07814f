package io.kvasir.gateway.zmtp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An endpoint with one peer at a time. A socket that connects does so again whenever it loses its
 * peer. A bound one keeps the peer that came first. Others wait, not greeted, until that one is
 * gone, or has sent no message in its first ten seconds.
 *
 * <p>A peer that breaks the protocol or a bound loses its connection, and is connected to again
 * after {@value #PAUSE_SECONDS} seconds.
 *
 * <p>Confined to the thread of its {@link ZmtpLoop}.
 */
public final class ZmtpSocket implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ZmtpSocket.class);
  private static final String SCHEME = "tcp://";
  private static final long RECONNECT_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RECONNECT_MAX_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int PAUSE_SECONDS = 5;

  /** How long a peer may send no message at first while others wait. */
  private static final long SILENT_NS = TimeUnit.SECONDS.toNanos(10);

  private static final long WARN_NS = TimeUnit.MINUTES.toNanos(1);

  private final ZmtpLoop loop;
  private final ZmtpRole role;
  private final byte[] first;

  private @Nullable ZmtpListener listener;
  private @Nullable InetSocketAddress address;
  private String name = "";
  private long notBeforeNs;
  private long pauseNs = RECONNECT_NS;
  private @Nullable ZmtpConnection connection;
  private byte @Nullable [] question;
  private boolean disconnected;
  private long heardNs;
  private boolean everHeard;
  private long dropped;
  private long warnedNs;
  private boolean warned;
  private boolean warnedOfOthers;

  /** What {@link #receive} has found. */
  public enum Received {
    /** There is nothing now. */
    NOTHING,
    /** No part of a message, but a heartbeat for example; there may be more. */
    CONTROL,
    /** A part of a message; there may be more. */
    PART,
    /** A message. */
    MESSAGE
  }

  /**
   * Creates a socket without an endpoint.
   *
   * @param loop waits for it
   * @param role what it is
   * @param topic the beginning of the topics to subscribe to; only for {@link ZmtpRole#SUB}
   */
  public ZmtpSocket(ZmtpLoop loop, ZmtpRole role, byte[] topic) {
    this.loop = loop;
    this.role = role;
    byte[] subscription = new byte[1 + topic.length];
    subscription[0] = 1;
    System.arraycopy(topic, 0, subscription, 1, topic.length);
    this.first = role == ZmtpRole.SUB ? Frames.message(subscription) : new byte[0];
    this.notBeforeNs = System.nanoTime();
  }

  ZmtpRole role() {
    return role;
  }

  // ---- endpoints ------------------------------------------------------------------------------

  /**
   * Binds an endpoint that peers connect to.
   *
   * @param endpoint {@code tcp://HOST:PORT}; the host {@code *} stands for all addresses
   * @throws IOException if it cannot be bound
   */
  public void bind(String endpoint) throws IOException {
    name = endpoint;
    listener = new ZmtpListener(loop, parsed(endpoint));
  }

  /**
   * Connects soon, and again whenever the connection is lost. An earlier address is left.
   *
   * @param endpoint {@code tcp://ADDRESS:PORT}
   * @throws IOException if the address is none
   */
  public void connect(String endpoint) throws IOException {
    if (endpoint.equals(name)) {
      return;
    }
    name = endpoint;
    address = parsed(endpoint);
    disconnect();
    notBeforeNs = System.nanoTime();
  }

  private static InetSocketAddress parsed(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    String host = endpoint.substring(SCHEME.length(), colon);
    int port = Integer.parseInt(endpoint.substring(colon + 1));
    return host.equals("*")
        ? new InetSocketAddress(port)
        : new InetSocketAddress(InetAddress.getByName(host), port);
  }

  private void begin(SocketChannel channel, boolean connected, long nowNs) throws IOException {
    ZmtpConnection begun;
    try {
      begun = new ZmtpConnection(loop, this, channel, nowNs);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    connection = begun;
    if (connected) {
      try {
        begun.onConnected(nowNs);
      } catch (IOException e) {
        onBroken(begun, e);
      }
    }
  }

  void onCloseFailed(IOException e) {
    LOG.debug("a connection of {} cannot be closed", name, e);
  }

  // ---- the connection -------------------------------------------------------------------------

  /** A handshake is complete. */
  void onOpen(ZmtpConnection opened) throws IOException {
    pauseNs = RECONNECT_NS;
    if (first.length > 0) {
      opened.send(first);
    }
    if (question != null) {
      opened.send(question);
      question = null;
    }
  }

  /** A connection has ended, or must end. */
  void onBroken(ZmtpConnection broken, IOException cause) {
    if (broken != connection) {
      return;
    }
    long nowNs = System.nanoTime();
    disconnect();
    if (cause instanceof ZmtpException) {
      dropped++;
      notBeforeNs = nowNs + TimeUnit.SECONDS.toNanos(PAUSE_SECONDS);
      if (!warned || nowNs - warnedNs >= WARN_NS) {
        warned = true;
        warnedNs = nowNs;
        LOG.warn("{}: the peer {}; the connection is dropped", name, cause.getMessage());
      }
    } else {
      notBeforeNs = nowNs + pauseNs;
      pauseNs = Math.min(2 * pauseNs, RECONNECT_MAX_NS);
      LOG.debug("{} is disconnected: {}", name, cause.getMessage());
    }
  }

  private void disconnect() {
    ZmtpConnection ended = connection;
    connection = null;
    if (ended == null) {
      return;
    }
    if (ended.isOpen()) {
      disconnected = true;
      everHeard = true;
      heardNs = ended.heartbeats().heardNs();
    }
    ended.close();
  }

  /**
   * Connects or takes the next peer where there is none, sends heartbeats, and ends a connection
   * that does not answer. To be called now and then, after what has come was received.
   *
   * @param nowNs the time
   */
  public void tick(long nowNs) {
    try {
      if (connection != null) {
        connection.tick(nowNs);
        lookAtOthers(nowNs);
      } else if (listener != null) {
        SocketChannel next = listener.next();
        if (next != null) {
          begin(next, true, nowNs);
        }
      } else if (address != null && nowNs - notBeforeNs >= 0) {
        notBeforeNs = nowNs + pauseNs;
        open(address, nowNs);
      }
    } catch (IOException | RuntimeException e) { // an address that NIO refuses, for example
      if (connection != null) {
        onBroken(connection, e instanceof IOException io ? io : new IOException(e));
      }
      LOG.debug("{} cannot be connected", name, e);
    }
  }

  /** Warns of peers that wait, and gives way to them if the present one has sent nothing. */
  private void lookAtOthers(long nowNs) throws IOException {
    boolean others = listener != null && listener.waiting() > 0;
    if (others && connection != null && !connection.isUseful(nowNs - SILENT_NS)) {
      throw new IOException("it has sent nothing, and others wait");
    }
    if (others && !warnedOfOthers) {
      LOG.warn("{} has several peers; the first one is received, until it is gone", name);
    }
    warnedOfOthers = others;
  }

  private void open(InetSocketAddress to, long nowNs) throws IOException {
    SocketChannel opened = SocketChannel.open();
    boolean connected;
    try {
      opened.configureBlocking(false);
      connected = opened.connect(to);
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    begin(opened, connected, nowNs);
  }

  /** {@return whether {@link #receive} may find something now} */
  public boolean isReadable() {
    return connection != null && connection.isReadable();
  }

  /** {@return what there is; {@link #takeMessage} has it if it is a message. Never blocks} */
  public Received receive() {
    ZmtpConnection from = connection;
    if (from == null || !from.isReadable()) {
      return Received.NOTHING;
    }
    try {
      return from.receive();
    } catch (IOException e) {
      onBroken(from, e);
      return Received.NOTHING;
    }
  }

  /** {@return the frames of the message that was received last; it is handed out once} */
  public byte[][] takeMessage() {
    return connection == null ? new byte[0][] : connection.takeMessage();
  }

  /**
   * Sends a message, now or when the next connection is there. Replaces one that waits.
   *
   * @param frames its frames
   */
  public void send(byte[]... frames) {
    byte[] bytes = Frames.message(frames);
    ZmtpConnection to = connection;
    if (to == null || !to.isOpen()) {
      question = bytes;
      return;
    }
    try {
      to.send(bytes);
    } catch (IOException e) {
      onBroken(to, e);
    }
  }

  /** {@return whether a connection ended since the last call whose handshake was complete} */
  public boolean wasDisconnected() {
    boolean was = disconnected;
    disconnected = false;
    return was;
  }

  /**
   * {@return whether the peer has shown since a time that it is there: by anything that it sent, or
   * by being connected if it does not answer heartbeats}
   *
   * @param sinceNs the time
   */
  public boolean isProven(long sinceNs) {
    ZmtpConnection now = connection;
    if (now != null && now.isOpen()) {
      Heartbeats heartbeats = now.heartbeats();
      return !heartbeats.answers() || heartbeats.heardNs() - sinceNs >= 0;
    }
    return everHeard && heardNs - sinceNs >= 0;
  }

  /** {@return whether a handshake was ever complete} */
  public boolean wasConnected() {
    return everHeard || (connection != null && connection.isOpen());
  }

  /** {@return connections that ended because the peer broke the protocol or a bound} */
  public long dropped() {
    return dropped;
  }

  /** Closes its connections and the endpoint. Repeated calls have no effect. */
  @Override
  public void close() {
    disconnect();
    address = null;
    ZmtpListener bound = listener;
    listener = null;
    if (bound != null) {
      try {
        bound.close();
      } catch (IOException e) {
        onCloseFailed(e);
      }
    }
  }
}
