package io.kvasir.engine.lockstep;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
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

  String peer() {
    try {
      return String.valueOf(channel.getRemoteAddress());
    } catch (IOException e) {
      return "a closed connection";
    }
  }

  /** Sends a frame; the buffer's position and limit do not change. */
  void send(ByteBuffer frame, long deadlineNs) throws IOException {
    length.clear();
    length.putInt(frame.remaining()).flip();
    sending[1] = frame.duplicate();
    while (sending[1].hasRemaining() || length.hasRemaining()) {
      if (channel.write(sending) == 0) {
        await(SelectionKey.OP_WRITE, deadlineNs, "did not accept data in time");
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
          "sent a frame of "
              + Integer.toUnsignedString(bytes)
              + " bytes; the limit is "
              + maxBytes);
    }
    if (received.capacity() < bytes) {
      received = ByteBuffer.allocate((int) Math.min(maxBytes, 2L * bytes));
    }
    received.clear().limit(bytes);
    fill(received, deadlineNs);
    return received.flip();
  }

  private void fill(ByteBuffer buffer, long deadlineNs) throws IOException {
    while (buffer.hasRemaining()) {
      int read = channel.read(buffer);
      if (read < 0) {
        throw new EOFException("closed the connection");
      }
      if (read == 0) {
        await(SelectionKey.OP_READ, deadlineNs, "was silent for too long");
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
      throw new IOException("did not answer before this thread was interrupted");
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
