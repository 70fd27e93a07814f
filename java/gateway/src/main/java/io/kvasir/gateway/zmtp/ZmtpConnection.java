package io.kvasir.gateway.zmtp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One TCP connection: greeting, handshake, heartbeats, and the messages of the peer. It reads only
 * when it is asked for a message, so that an unread message waits at the peer.
 *
 * <p>Confined to the thread of its {@link ZmtpLoop}.
 */
final class ZmtpConnection implements ZmtpLoop.Selected {

  private static final long CONNECT_LIMIT_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long HANDSHAKE_LIMIT_NS = TimeUnit.SECONDS.toNanos(2);

  /** The most bytes that wait until the peer reads them. */
  private static final int MAX_UNSENT_BYTES = 64 << 10;

  /** The system's socket options by name: seconds, seconds and probes. */
  private static final Map<String, Integer> KEEPALIVE =
      Map.of("TCP_KEEPIDLE", 10, "TCP_KEEPINTERVAL", 5, "TCP_KEEPCOUNT", 3);

  private static final int TTL_BYTES = 2;
  private static final int MAX_CONTEXT_BYTES = 16;
  private static final byte[] NO_TTL_NO_CONTEXT = new byte[TTL_BYTES];
  private static final byte[] NOTHING = {};
  private static final ByteBuffer NO_BYTES = ByteBuffer.wrap(NOTHING);
  private static final byte[][] NO_MESSAGE = {};

  private final ZmtpLoop loop;
  private final ZmtpSocket socket;
  private final SocketChannel channel;
  private final SelectionKey key;
  private final FrameDecoder decoder = new FrameDecoder();

  private byte[] greeting = NOTHING;
  private String peer = "";
  private boolean connected;
  private boolean open;
  private boolean hasSent;
  private boolean readable;

  /** Whether the last read took all that there was. */
  private boolean drained;

  /** What was read and not decoded when another connection needed the buffer. */
  private ByteBuffer kept = NO_BYTES;

  private ByteBuffer unsent = NO_BYTES;
  private byte[][] message = NO_MESSAGE;
  private int heldBytes;
  private final Heartbeats heartbeats;
  private long sinceNs;

  private ZmtpConnection(ZmtpLoop loop, ZmtpSocket socket, SocketChannel channel, long nowNs)
      throws IOException {
    this.loop = loop;
    this.socket = socket;
    this.channel = channel;
    this.sinceNs = nowNs;
    this.heartbeats = new Heartbeats(nowNs);
    this.key = loop.register(channel, SelectionKey.OP_CONNECT, this);
    loop.add(this);
  }

  /**
   * Takes over a channel that is connected, or that has begun to connect.
   *
   * @throws IOException if the channel fails; it is closed then
   */
  static ZmtpConnection over(SocketChannel channel, ZmtpLoop loop, ZmtpSocket socket, long nowNs)
      throws IOException {
    try {
      return new ZmtpConnection(loop, socket, channel, nowNs);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Begins to connect to an address.
   *
   * @throws IOException if that fails at once
   */
  static ZmtpConnection to(InetSocketAddress to, ZmtpLoop loop, ZmtpSocket socket, long nowNs)
      throws IOException {
    SocketChannel opened = SocketChannel.open();
    try {
      opened.configureBlocking(false);
      boolean unused = opened.connect(to);
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    return over(opened, loop, socket, nowNs);
  }

  /**
   * Greets the peer if the channel is connected already.
   *
   * @throws IOException if the channel fails
   */
  void greetIfConnected(long nowNs) throws IOException {
    if (channel.isConnected()) {
      onConnected(nowNs);
    }
  }

  /**
   * The channel is connected: greets the peer.
   *
   * @throws IOException if the channel fails
   */
  void onConnected(long nowNs) throws IOException {
    connected = true;
    sinceNs = nowNs;
    if (channel.getRemoteAddress() instanceof InetSocketAddress remote) {
      peer = remote.getAddress().getHostAddress();
    }
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    keepAlive();
    key.interestOps(SelectionKey.OP_READ);
    send(Frames.greeting());
  }

  /**
   * Has the system notice within half a minute that the peer's machine is gone. The options are
   * found by name, because their class is missing in a Java runtime without the module jdk.net.
   */
  private void keepAlive() throws IOException {
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    for (SocketOption<?> option : channel.supportedOptions()) {
      Integer value = KEEPALIVE.get(option.name());
      if (value != null && option.type() == Integer.class) {
        channel.setOption(integer(option), value);
      }
    }
  }

  @SuppressWarnings("unchecked") // the caller has looked at the option's type
  private static SocketOption<Integer> integer(SocketOption<?> option) {
    return (SocketOption<Integer>) option;
  }

  @Override
  public void onSelected() {
    try {
      if (!connected) {
        if (channel.finishConnect()) {
          onConnected(loop.nowNs());
        }
      } else {
        readable |= key.isReadable();
        if (key.isWritable()) {
          write();
        }
      }
    } catch (IOException e) {
      drop(e);
    }
  }

  /** Ends the connection: it has failed, or the peer has broken a rule. */
  void drop(IOException cause) {
    socket.onBroken(this, cause);
  }

  // ---- receiving ------------------------------------------------------------------------------

  /** Whether the handshake is complete. */
  boolean isOpen() {
    return open;
  }

  /** The address of the peer; empty before it is connected. */
  String peer() {
    return peer;
  }

  /** Whether a message has come, or the connection is newer than a time. */
  boolean isUseful(long limitNs) {
    return hasSent || sinceNs - limitNs > 0;
  }

  /** Whether the peer is there. */
  Heartbeats heartbeats() {
    return heartbeats;
  }

  /** Whether {@link #receive} may find something. */
  boolean isReadable() {
    return readable;
  }

  /**
   * Takes some of what has come.
   *
   * @throws IOException if the connection has ended, or must end
   */
  ZmtpSocket.Received receive() throws IOException {
    ByteBuffer in = input();
    if (!in.hasRemaining()) {
      return ZmtpSocket.Received.NOTHING;
    }
    if (greeting.length < Frames.GREETING_BYTES) {
      takeGreeting(in);
      return ZmtpSocket.Received.CONTROL;
    }
    FrameDecoder.Found found = decoder.decode(in);
    switch (found) {
      case COMMAND -> onCommand(decoder.command());
      case MESSAGE -> onMessage(decoder.takeMessage());
      case NOTHING -> {}
    }
    account();
    return switch (found) {
      case COMMAND -> ZmtpSocket.Received.CONTROL;
      case MESSAGE -> ZmtpSocket.Received.MESSAGE;
      case NOTHING -> heldBytes == 0 ? ZmtpSocket.Received.CONTROL : ZmtpSocket.Received.PART;
    };
  }

  private void onMessage(byte[][] complete) throws ZmtpException {
    if (!open) {
      throw new ZmtpException("sends a message before READY");
    }
    message = complete;
    hasSent = true;
  }

  /** Bytes to decode; none if there are none now. */
  private ByteBuffer input() throws IOException {
    if (kept.hasRemaining()) {
      return kept;
    }
    kept = NO_BYTES;
    ByteBuffer buffer = loop.buffer(this);
    if (buffer.hasRemaining()) {
      return buffer;
    }
    if (drained || !readable) {
      drained = false;
      readable = false;
      return buffer;
    }
    buffer.clear();
    int count = -1;
    try {
      count = channel.read(buffer);
    } finally {
      buffer.flip();
    }
    if (count < 0) {
      throw new EOFException("the peer has closed the connection");
    }
    drained = count < buffer.capacity();
    if (count > 0) {
      heartbeats.onHeard(loop.nowNs());
    }
    return buffer;
  }

  /** Copies what is left in the shared buffer, which another connection needs. */
  void keep(ByteBuffer rest) {
    kept = ByteBuffer.allocate(rest.remaining()).put(rest).flip();
  }

  /** Bytes of its buffers, without the unfinished message. */
  long bufferBytes() {
    return (long) kept.capacity() + unsent.capacity();
  }

  private void account() throws ZmtpException {
    int before = heldBytes;
    heldBytes = decoder.heldBytes();
    if (heldBytes != before) {
      loop.onHeld(this, heldBytes - before);
    }
  }

  /** Bytes of its unfinished message, as the loop counts them. */
  int heldBytes() {
    return heldBytes;
  }

  /** Hands out the message that was received last. */
  byte[][] takeMessage() {
    byte[][] taken = message;
    message = NO_MESSAGE;
    return taken;
  }

  private void takeGreeting(ByteBuffer in) throws IOException {
    int before = greeting.length;
    int count = Math.min(in.remaining(), Frames.GREETING_BYTES - before);
    greeting = Arrays.copyOf(greeting, before + count);
    in.get(greeting, before, count);
    Frames.requireVersion(greeting);
    if (greeting.length == Frames.GREETING_BYTES) {
      Frames.requireGreeting(greeting);
      send(Frames.ready(socket.role()));
    }
  }

  private void onCommand(byte[] command) throws IOException {
    if (Frames.isNamed(command, "READY") && !open) {
      String type = Frames.socketType(command);
      if (!socket.role().takes(type)) {
        throw new ZmtpException(
            "is a socket of type '" + printable(type) + "', not " + socket.role().peers());
      }
      open = true;
      socket.onOpen(this);
    } else if (Frames.isNamed(command, "ERROR")) {
      throw new ZmtpException("refuses the connection");
    } else if (!open) {
      throw new ZmtpException("sends a command before READY");
    } else if (Frames.isNamed(command, "PONG")) {
      heartbeats.onAnswer();
    } else if (Frames.isNamed(command, "PING")) {
      int context = Math.min(command.length, 1 + "PING".length() + TTL_BYTES);
      if (command.length - context > MAX_CONTEXT_BYTES) {
        throw new ZmtpException("sends a heartbeat of more than 16 bytes");
      }
      send(Frames.command("PONG", Arrays.copyOfRange(command, context, command.length)));
    }
  }

  private static String printable(String type) {
    return type.substring(0, Math.min(type.length(), 16)).replaceAll("[^A-Za-z0-9-]", "?");
  }

  // ---- sending --------------------------------------------------------------------------------

  /**
   * Sends frames, now or when the peer reads.
   *
   * @throws IOException if the connection has ended, or the peer does not read
   */
  void send(byte[] frames) throws IOException {
    if (unsent.remaining() + frames.length > MAX_UNSENT_BYTES) {
      throw new ZmtpException("does not read what is sent to it");
    }
    unsent = ByteBuffer.allocate(unsent.remaining() + frames.length).put(unsent).put(frames).flip();
    write();
  }

  private void write() throws IOException {
    channel.write(unsent);
    int waits = unsent.hasRemaining() ? SelectionKey.OP_WRITE : 0;
    unsent = waits == 0 ? NO_BYTES : unsent;
    key.interestOps(SelectionKey.OP_READ | waits);
  }

  /**
   * Sends heartbeats, and notices that an answer is overdue by the loop's time, in which pauses of
   * this process do not count. To be called after what has come was read.
   *
   * @throws IOException if the connection must end
   */
  void tick(long nowNs) throws IOException {
    if (!open) {
      if (nowNs - sinceNs > (connected ? HANDSHAKE_LIMIT_NS : CONNECT_LIMIT_NS)) {
        throw new IOException(connected ? "no handshake in time" : "no connection in time");
      }
      return;
    }
    if (heartbeats.ask(nowNs, readable)) {
      send(Frames.command("PING", NO_TTL_NO_CONTEXT));
    }
  }

  /** Closes the channel. Repeated calls have no effect. */
  void close() {
    loop.remove(this);
    try {
      channel.close();
    } catch (IOException e) {
      socket.onCloseFailed(e);
    }
  }
}
