package io.kvasir.tcp;

import io.kvasir.engine.lockstep.Member;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the coordinator while members join. It never blocks.
 *
 * <p>Confined to one thread.
 */
final class PendingConnection implements AutoCloseable {

  private final SocketChannel socket;
  private final TcpHandshake handshake;
  private final long deadlineNs;
  private final SocketAddress peer;
  private final ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
  private @Nullable ByteBuffer hello;
  private @Nullable Member member;

  /**
   * Sends the challenge. Takes ownership of the socket, even if the constructor fails.
   *
   * @param selector shall report what the connection sends, with this object as attachment
   * @param deadlineNs until when the hello must be complete
   */
  PendingConnection(SocketChannel socket, GroupSecret secret, Selector selector, long deadlineNs)
      throws IOException {
    this.socket = socket;
    this.handshake = TcpHandshake.ofCoordinator(secret);
    this.deadlineNs = deadlineNs;
    try {
      this.peer = socket.getRemoteAddress();
      socket.configureBlocking(false);
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      send(handshake.challenge());
      socket.register(selector, SelectionKey.OP_READ, this);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Sends a small frame. It fits into the empty buffer of the socket; otherwise this fails. */
  private void send(ByteBuffer body) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + body.remaining());
    frame.putInt(body.remaining()).put(body).flip();
    socket.write(frame);
    if (frame.hasRemaining()) {
      throw new IOException("it did not accept data in time");
    }
  }

  SocketChannel socket() {
    return socket;
  }

  SocketAddress peer() {
    return peer;
  }

  /** The member whose connection this is; null as long as it has not joined. */
  @Nullable Member member() {
    return member;
  }

  void joinedAs(Member joined) {
    member = joined;
  }

  boolean isLate(long nowNs) {
    return nowNs - deadlineNs >= 0;
  }

  /**
   * Reads what has arrived.
   *
   * @return the body of the hello, with its proof verified; null if it is incomplete
   */
  @Nullable ByteBuffer readHello() throws IOException {
    if (hello == null) {
      read(length);
      if (length.hasRemaining()) {
        return null;
      }
      int bytes = length.getInt(0);
      if (bytes < TcpHandshake.MIN_HELLO_BYTES || bytes > TcpHandshake.MAX_HELLO_BYTES) {
        throw new IOException("it sent no hello of this protocol");
      }
      hello = ByteBuffer.allocate(bytes);
    }
    read(hello);
    return hello.hasRemaining() ? null : handshake.readHello(hello.flip());
  }

  private void read(ByteBuffer buffer) throws IOException {
    if (socket.read(buffer) < 0) {
      throw new EOFException("it closed the connection");
    }
  }

  /** Answers a hello. An empty refusal admits the member. */
  void answer(String refusal) throws IOException {
    send(handshake.answer(refusal));
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException ignored) {
      // The connection is no longer in use.
    }
  }
}
