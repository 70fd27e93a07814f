package io.kvasir.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Sockets, and the loop that the test runs itself. */
final class RunningSockets implements AutoCloseable {

  static final long MAX_HELD_BYTES = 1 << 20;

  /** Silence in which a peer is asked once. */
  static final int HEARTBEAT_SECONDS = 2;

  final ZmtpLoop loop = new ZmtpLoop(MAX_HELD_BYTES, () -> System.nanoTime() + this.skippedNs);
  final List<ZmtpSocket> sockets = new ArrayList<>();

  /** The messages of all sockets. */
  final List<byte[][]> received = new ArrayList<>();

  final ServerSocket server = RawPeer.listen();

  /** By how much the sockets' clock is ahead. */
  long skippedNs;

  RunningSockets() throws IOException {}

  @Override
  public void close() throws IOException {
    sockets.forEach(ZmtpSocket::close);
    loop.close();
    server.close();
  }

  interface Condition {
    boolean holds() throws IOException;
  }

  interface Step {
    void run() throws IOException;
  }

  ZmtpSocket subscriber() throws IOException {
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.connect(RawPeer.endpoint(server));
    return socket;
  }

  void runUntil(Condition condition) throws IOException {
    repeat(() -> turn(10), condition);
  }

  /** Unlike {@link Await}, without a pause between the steps. */
  static void repeat(Step step, Condition until) throws IOException {
    long startNs = System.nanoTime();
    while (!until.holds()) {
      assertThat(System.nanoTime() - startNs).isLessThan(Await.limit().toNanos());
      step.run();
    }
  }

  void turn(int waitMs) throws IOException {
    loop.select(waitMs);
    for (ZmtpSocket socket : sockets) {
      ZmtpSocket.Received found = socket.receive();
      while (found != ZmtpSocket.Received.NOTHING) {
        if (found == ZmtpSocket.Received.MESSAGE) {
          received.add(socket.takeMessage());
        }
        found = socket.receive();
      }
      socket.tick(loop.nowNs());
    }
  }

  /** Runs the loop while time passes quickly. */
  void pass(int seconds) throws IOException {
    for (int i = 0; i < 10 * seconds; i++) {
      skippedNs += 100_000_000;
      turn(0);
    }
  }

  void answerNextHeartbeat(RawPeer peer) throws IOException {
    pass(HEARTBEAT_SECONDS);
    with(peer::answerHeartbeat);
  }

  ZmtpSocket bound() throws IOException {
    server.close();
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.bind(RawPeer.endpoint(server));
    return socket;
  }

  /** A peer that sends what a publisher sends, without reading. */
  RawPeer sender(byte[]... messages) throws IOException {
    RawPeer peer = RawPeer.connect(server.getLocalPort());
    peer.send(RawPeer.greeting(3, "NULL"));
    peer.send(RawPeer.ready("PUB"));
    for (byte[] message : messages) {
      peer.send(message);
    }
    return peer;
  }

  /** Runs what a peer does on a thread of its own, and the loop until it is done. */
  void with(Step peer) throws IOException {
    Thread thread =
        new Thread(
            () -> {
              try {
                peer.run();
              } catch (IOException e) {
                // the socket has closed the connection, which the test checks by the counts
              }
            });
    thread.setDaemon(true);
    thread.start();
    runUntil(() -> !thread.isAlive());
  }
}
