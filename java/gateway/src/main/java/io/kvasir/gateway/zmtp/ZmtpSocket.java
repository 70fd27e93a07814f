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
 * gone. If it has sent no message in its first ten seconds, the others are greeted, one after the
 * other for ten seconds each, and the first of them that sends a message takes its place.
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

  private final ZmtpLoop loop;
  private final ZmtpRole role;
  private final byte[] first;

  private @Nullable ZmtpListener listener;
  private @Nullable InetSocketAddress address;
  private String name = "";
  private long notBeforeNs;
  private long pauseNs = RECONNECT_NS;
  private @Nullable ZmtpConnection connection;

  /** One of those that wait, which takes the place of the present peer if it is first to send. */
  private @Nullable ZmtpConnection candidate;

  private byte @Nullable [] question;
  private boolean disconnected;
  private long heardNs;
  private boolean everHeard;
  private long dropped;
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
    this.notBeforeNs = loop.nowNs();
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
    notBeforeNs = loop.nowNs();
  }

  private static InetSocketAddress parsed(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    String host = endpoint.substring(SCHEME.length(), colon);
    int port = Integer.parseInt(endpoint.substring(colon + 1));
    return host.equals("*")
        ? new InetSocketAddress(port)
        : new InetSocketAddress(InetAddress.getByName(host), port);
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
  void onBroken(@Nullable ZmtpConnection broken, IOException cause) {
    if (broken == null || (broken != connection && broken != candidate)) {
      return;
    }
    long nowNs = loop.nowNs();
    if (broken == candidate) {
      endCandidate();
    } else {
      disconnect();
    }
    if (cause instanceof ZmtpException fault) {
      dropped++;
      notBeforeNs = nowNs + TimeUnit.SECONDS.toNanos(PAUSE_SECONDS);
      loop.faults().log(name, broken.peer(), fault, nowNs);
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

  private void endCandidate() {
    ZmtpConnection ended = candidate;
    candidate = null;
    if (ended != null) {
      ended.close();
    }
  }

  /** The candidate takes the place of the present peer, if there is one. */
  private void promote() {
    ZmtpConnection next = candidate;
    candidate = null;
    disconnect();
    connection = next;
  }

  /**
   * Connects or takes the next peer where there is none, sends heartbeats, and ends a connection
   * that does not answer. To be called now and then, after what has come was received.
   *
   * @param nowNs the time, {@link ZmtpLoop#nowNs}
   */
  public void tick(long nowNs) {
    try {
      if (connection != null) {
        connection.tick(nowNs);
      } else {
        connect(nowNs);
      }
    } catch (IOException | RuntimeException e) { // an address that NIO refuses, for example
      if (connection != null) {
        onBroken(connection, e instanceof IOException io ? io : new IOException(e));
      }
      LOG.debug("{} cannot be connected", name, e);
    }
    if (listener != null) {
      listener.tick(nowNs);
      lookAtOthers(listener, nowNs);
    }
  }

  private void connect(long nowNs) throws IOException {
    if (candidate != null) {
      promote();
    } else if (listener != null) {
      connection = taken(listener, nowNs);
    } else if (address != null && nowNs - notBeforeNs >= 0) {
      notBeforeNs = nowNs + pauseNs;
      connection = ZmtpConnection.to(address, loop, this, nowNs);
      connection.greetIfConnected(nowNs);
    }
  }

  /** The next of those that wait, greeted; null if there is none. */
  private @Nullable ZmtpConnection taken(ZmtpListener from, long nowNs) throws IOException {
    SocketChannel next = from.next();
    if (next == null) {
      return null;
    }
    ZmtpConnection begun = ZmtpConnection.over(next, loop, this, nowNs);
    try {
      begun.onConnected(nowNs);
    } catch (IOException e) {
      begun.close();
      throw e;
    }
    return begun;
  }

  /** Warns of peers that wait, and greets one of them if the present one has sent nothing. */
  private void lookAtOthers(ZmtpListener from, long nowNs) {
    ZmtpConnection tried = candidate;
    try {
      if (tried != null) {
        tried.tick(nowNs);
        if (from.waiting() > 0 && !tried.isUseful(nowNs - SILENT_NS)) {
          throw new IOException("it has sent nothing, and others wait");
        }
      } else if (connection != null && !connection.isUseful(nowNs - SILENT_NS)) {
        candidate = taken(from, nowNs);
      }
    } catch (IOException e) {
      onBroken(tried, e);
    }
    boolean others = from.waiting() > 0 || candidate != null;
    if (others && !warnedOfOthers) {
      LOG.warn("{} has several peers; the first one is received, until it is gone", name);
    }
    warnedOfOthers = others;
  }

  /** {@return whether {@link #receive} may find something now} */
  public boolean isReadable() {
    return readable() != null;
  }

  private @Nullable ZmtpConnection readable() {
    ZmtpConnection present = connection;
    if (present != null && present.isReadable()) {
      return present;
    }
    ZmtpConnection tried = candidate;
    return tried != null && tried.isReadable() ? tried : null;
  }

  /** {@return what there is; {@link #takeMessage} has it if it is a message. Never blocks} */
  public Received receive() {
    ZmtpConnection from = readable();
    if (from == null) {
      return Received.NOTHING;
    }
    try {
      Received found = from.receive();
      if (found == Received.MESSAGE && from == candidate) {
        promote();
      } else if (found == Received.MESSAGE) {
        endCandidate(); // the present peer has shown that it publishes
      }
      return found;
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
    endCandidate();
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
