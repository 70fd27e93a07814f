package io.kvasir.engine.lockstep;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeUnit;

/**
 * A TCP connection that carries length-prefixed frames. An operation fails if the peer does not
 * send or receive before the deadline.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
final class FrameChannel implements AutoCloseable {

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
  private final ByteBuffer[] sending = {length, null};
  private ByteBuffer received = ByteBuffer.allocate(1 << 12);

  /** Takes ownership of the channel, even if the constructor fails. */
  FrameChannel(SocketChannel channel) throws IOException {
    this.channel = channel;
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

  /** Connects to an address. */
  static FrameChannel connect(SocketAddress address, long deadlineNs) throws IOException {
    FrameChannel connecting = new FrameChannel(SocketChannel.open());
    try {
      if (!connecting.channel.connect(address)) {
        do {
          connecting.await(SelectionKey.OP_CONNECT, deadlineNs, "it did not answer in time");
        } while (!connecting.channel.finishConnect());
      }
      return connecting;
    } catch (UnresolvedAddressException e) {
      connecting.close();
      throw new IOException("the name of its host is unknown", e);
    } catch (IOException e) {
      connecting.close();
      throw e;
    }
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
    length.clear();
    length.putInt(frame.remaining()).flip();
    sending[1] = frame.duplicate();
    while (sending[1].hasRemaining() || length.hasRemaining()) {
      if (channel.write(sending) == 0) {
        await(SelectionKey.OP_WRITE, deadlineNs, "it did not accept data in time");
      }
    }
    sending[1] = null;
  }

  /** The next frame; valid until the next call. */
  ByteBuffer receive(int maxBytes, long deadlineNs) throws IOException {
    length.clear();
    fill(length, deadlineNs);
    int bytes = length.getInt(0);
    if (bytes < 0 || bytes > maxBytes) {
      throw new IOException(
          "it sent a frame of "
              + Integer.toUnsignedString(bytes)
              + " bytes; the limit is "
              + maxBytes);
    }
    received.clear().limit(Math.min(bytes, received.capacity()));
    fill(received, deadlineNs);
    while (received.position() < bytes) {
      // Memory is allocated for what has arrived, not for what the length announces.
      int capacity = (int) Math.min(bytes, 2L * received.capacity());
      received = ByteBuffer.allocate(capacity).put(received.flip());
      fill(received, deadlineNs);
    }
    return received.flip();
  }

  private void fill(ByteBuffer buffer, long deadlineNs) throws IOException {
    while (buffer.hasRemaining()) {
      int read = channel.read(buffer);
      if (read < 0) {
        throw new EOFException("it closed the connection");
      }
      if (read == 0) {
        await(SelectionKey.OP_READ, deadlineNs, "it was silent for too long");
      }
    }
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
