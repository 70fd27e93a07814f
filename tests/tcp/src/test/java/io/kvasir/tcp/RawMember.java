package io.kvasir.tcp;

import io.kvasir.engine.lockstep.MemberHello;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A connection whose frames a test chooses. */
final class RawMember implements AutoCloseable {

  private final SocketChannel socket;
  private final FrameChannel frames;

  RawMember(SocketAddress coordinator) throws IOException {
    this(SocketChannel.open(coordinator));
  }

  RawMember(SocketChannel socket) throws IOException {
    this.socket = socket;
    this.frames = new FrameChannel(socket);
  }

  void send(ByteBuffer frame) throws IOException {
    frames.send(frame, deadlineNs());
  }

  ByteBuffer receive() throws IOException {
    return frames.receive(1 << 20, deadlineNs());
  }

  /** Sends bytes without a length. */
  void sendBytes(byte[] bytes) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes);
    while (left.hasRemaining()) {
      socket.write(left);
    }
  }

  /** Proves to have the secret; the answer is empty if the coordinator admits the member. */
  String join(GroupSecret secret, MemberHello hello) throws IOException {
    TcpHandshake handshake = TcpHandshake.ofMember(secret, receive());
    send(handshake.hello(hello.encode()));
    return handshake.readAnswer(receive());
  }

  /** Closes the connection in such a way that the peer gets an error. */
  void reset() throws IOException {
    socket.setOption(StandardSocketOptions.SO_LINGER, 0);
    socket.close();
    frames.close();
  }

  private static long deadlineNs() {
    return System.nanoTime() + Await.limit().toNanos();
  }

  @Override
  public void close() {
    frames.close();
  }
}
