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
 * A TCP connection that carries frames, each behind its length, and gives up on a peer that neither
 * sends nor takes in time.
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

  /** Takes the channel over, also if it fails. */
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

  /** Sends a frame; the buffer is left as it is. */
  void send(ByteBuffer frame, long deadlineNs) throws IOException {
    length.clear();
    length.putInt(frame.remaining()).flip();
    sending[1] = frame.duplicate();
    while (sending[1].hasRemaining() || length.hasRemaining()) {
      if (channel.write(sending) == 0) {
        await(SelectionKey.OP_WRITE, deadlineNs, "did not take what it was sent");
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
              + " bytes; at most "
              + maxBytes
              + " are allowed");
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

  private void await(int operation, long deadlineNs, String complaint) throws IOException {
    long leftNs = deadlineNs - System.nanoTime();
    if (leftNs <= 0) {
      throw new SocketTimeoutException(complaint);
    }
    key.interestOps(operation);
    selector.select(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
    selector.selectedKeys().clear();
    if (Thread.currentThread().isInterrupted()) {
      throw new IOException("waiting for it was interrupted");
    }
  }

  @Override
  public void close() {
    try (selector;
        channel) {
      selector.wakeup();
    } catch (IOException ignored) {
      // Nobody listens any more.
    }
  }
}
