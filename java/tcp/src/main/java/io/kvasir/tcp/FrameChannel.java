package io.kvasir.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection that carries length-prefixed frames, encrypted from some point on or not. An
 * operation fails if the peer does not send or receive before the deadline.
 *
 * <p>Reading can poll for a short time before it blocks.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
final class FrameChannel implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 14;

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final ByteBuffer sending = ByteBuffer.allocateDirect(BUFFER_BYTES);

  /** What has arrived and was not returned, from position to limit. */
  private final ByteBuffer arriving = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);

  private Carrier carrier;
  private long spinNs;
  private ByteBuffer received = ByteBuffer.allocate(2 * BUFFER_BYTES);

  /** Takes ownership of the channel, even if the constructor fails. */
  FrameChannel(SocketChannel channel) throws IOException {
    this.channel = channel;
    this.carrier = Carrier.plain(channel);
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      this.selector = Selector.open();
      this.key = channel.register(selector, 0);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Connects to an address; from a local address unless that is null. */
  static FrameChannel connect(SocketAddress address, @Nullable InetAddress from, long deadlineNs)
      throws IOException {
    FrameChannel connecting = new FrameChannel(SocketChannel.open());
    try {
      if (from != null) {
        connecting.channel.bind(new InetSocketAddress(from, 0));
      }
      if (!connecting.channel.connect(address)) {
        do {
          connecting.await(SelectionKey.OP_CONNECT, deadlineNs, "it did not answer in time");
        } while (!connecting.channel.finishConnect());
      }
      return connecting;
    } catch (UnresolvedAddressException e) {
      connecting.close();
      UnknownHostException unknown = new UnknownHostException("the name of its host is unknown");
      unknown.initCause(e);
      throw unknown;
    } catch (IOException e) {
      connecting.close();
      throw e;
    }
  }

  /**
   * Encrypts what follows. The peer must do the same, after the last frame that it has sent and
   * before any other.
   */
  void encrypt(SSLEngine engine, long deadlineNs) throws IOException {
    if (arriving.hasRemaining()) {
      throw new IOException("it sent data before the TLS handshake");
    }
    EncryptedCarrier encrypted = new EncryptedCarrier(channel, engine);
    for (int wait = encrypted.handshake(); wait != 0; wait = encrypted.handshake()) {
      await(wait, deadlineNs, "it did not complete the TLS handshake in time");
    }
    carrier = encrypted;
  }

  /** Sets how long reading polls before it blocks. */
  FrameChannel spinning(Duration spin) {
    spinNs = spin.toNanos();
    return this;
  }

  /** What went wrong, as the rest of a sentence about the peer. */
  static String problem(Exception e) {
    String message = e.getMessage();
    if (!(e instanceof IOException) || message == null || message.isEmpty()) {
      return e.toString();
    }
    return Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }

  /** Sends a frame; the buffer's position and limit do not change. */
  void send(ByteBuffer frame, long deadlineNs) throws IOException {
    ByteBuffer rest = frame.duplicate();
    sending.clear();
    sending.putInt(frame.remaining());
    do {
      int bytes = Math.min(sending.remaining(), rest.remaining());
      sending.put(rest.slice(rest.position(), bytes)).flip();
      rest.position(rest.position() + bytes);
      while (!carrier.write(sending)) {
        await(SelectionKey.OP_WRITE, deadlineNs, "it did not accept data in time");
      }
      sending.clear();
    } while (rest.hasRemaining());
  }

  /** The next frame; valid until the next call. */
  ByteBuffer receive(int maxBytes, long deadlineNs) throws IOException {
    arriving.compact();
    readUntil(arriving, Integer.BYTES, deadlineNs);
    int bytes = arriving.getInt(0);
    if (bytes < 0 || bytes > maxBytes) {
      throw new IOException(
          "it sent a frame of "
              + Integer.toUnsignedString(bytes)
              + " bytes; the limit is "
              + maxBytes);
    }
    if (bytes > arriving.capacity() - Integer.BYTES) {
      return receiveLong(bytes, deadlineNs);
    }
    readUntil(arriving, Integer.BYTES + bytes, deadlineNs);
    arriving.flip().position(Integer.BYTES + bytes);
    return arriving.slice(Integer.BYTES, bytes);
  }

  private ByteBuffer receiveLong(int bytes, long deadlineNs) throws IOException {
    received.clear().put(arriving.flip().position(Integer.BYTES));
    received.limit(Math.min(bytes, received.capacity()));
    readUntil(received, received.limit(), deadlineNs);
    while (received.position() < bytes) {
      // Memory is allocated for what has arrived, not for what the length announces.
      int capacity = (int) Math.min(bytes, 2L * received.capacity());
      received = ByteBuffer.allocate(capacity).put(received.flip());
      readUntil(received, capacity, deadlineNs);
    }
    return received.flip();
  }

  /** Reads until the buffer has that many bytes, or more if they are here. */
  private void readUntil(ByteBuffer buffer, int bytes, long deadlineNs) throws IOException {
    while (buffer.position() < bytes) {
      if (read(buffer) == 0 && !(spinNs > 0 && spin(buffer))) {
        await(SelectionKey.OP_READ, deadlineNs, "it was silent for too long");
      }
    }
  }

  private int read(ByteBuffer buffer) throws IOException {
    int read = carrier.read(buffer);
    if (read < 0) {
      throw new EOFException("it closed the connection");
    }
    return read;
  }

  /** Polls, leaving the core to others in between; whether something was read. */
  @SuppressWarnings("ThreadPriorityCheck") // yields to members that share the cores
  private boolean spin(ByteBuffer buffer) throws IOException {
    long untilNs = System.nanoTime() + spinNs;
    do {
      Thread.yield();
      if (read(buffer) > 0) {
        return true;
      }
    } while (System.nanoTime() - untilNs < 0);
    return false;
  }

  private void await(int operation, long deadlineNs, String problem) throws IOException {
    long leftNs = deadlineNs - System.nanoTime();
    if (leftNs <= 0) {
      throw new SocketTimeoutException(problem);
    }
    key.interestOps(operation);
    selector.select(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
    selector.selectedKeys().clear();
    if (Thread.currentThread().isInterrupted()) {
      throw new IOException("this thread was interrupted");
    }
  }

  @Override
  public void close() {
    try (selector;
        channel) {
      selector.wakeup();
    } catch (IOException ignored) {
      // The connection is no longer in use.
    }
  }
}
