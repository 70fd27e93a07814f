package io.kvasir.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whose turn it is at a socket that waits for publishers. */
class BoundSocketTest {

  private RunningSockets run;

  @BeforeEach
  void listen() throws IOException {
    run = new RunningSockets();
  }

  @AfterEach
  void close() throws IOException {
    run.close();
  }

  @Test
  void aBoundSocketKeepsItsFirstPeerAndThenTakesTheNext() throws IOException {
    int port = run.server.getLocalPort();
    run.server.close();
    ZmtpSocket socket = new ZmtpSocket(run.loop, ZmtpRole.SUB, new byte[0]);
    run.sockets.add(socket);
    socket.bind("tcp://127.0.0.1:" + port);
    RawPeer[] first = new RawPeer[1];
    run.with(
        () -> {
          first[0] = RawPeer.connect(port);
          first[0].handshake("PUB");
          first[0].send(RawPeer.batch(0, new byte[] {1}));
        });
    run.runUntil(() -> run.received.size() == 1);
    RawPeer second = RawPeer.connect(port);
    second.send(RawPeer.greeting(3, "NULL"));
    second.send(RawPeer.ready("PUB"));
    second.send(RawPeer.batch(0, new byte[] {2}));
    first[0].send(RawPeer.batch(1, new byte[] {3}));
    run.runUntil(() -> run.received.size() == 2);
    assertThat(run.received.get(1)[2]).containsExactly(3);
    assertThat(socket.wasDisconnected()).isFalse();
    first[0].close();
    run.runUntil(() -> run.received.size() == 3);
    assertThat(run.received.get(2)[2]).containsExactly(2);
    assertThat(socket.wasDisconnected()).isTrue();
    second.close();
  }

  @Test
  void aPeerThatOnlyTakesTheEndpointGivesWay() throws IOException {
    ZmtpSocket socket = run.bound();
    RawPeer idle = run.sender();
    run.runUntil(socket::wasConnected);
    RawPeer second = run.sender(RawPeer.batch(0, new byte[] {2}));
    run.pass(9);
    assertThat(run.received).isEmpty();
    run.pass(2);
    run.runUntil(() -> run.received.size() == 1);
    assertThat(socket.wasDisconnected()).isTrue();
    idle.close();
    second.close();
  }

  @Test
  void aPeerThatSendsNothingDoesNotTakeThePlaceOfAnIdleOne() throws IOException {
    ZmtpSocket socket = run.bound();
    RawPeer idle = run.sender();
    run.runUntil(socket::wasConnected);
    RawPeer dead = RawPeer.connect(run.server.getLocalPort());
    RawPeer garbage = RawPeer.connect(run.server.getLocalPort());
    garbage.send(new byte[100]);
    RawPeer silent = run.sender();
    run.pass(60);
    assertThat(socket.wasDisconnected()).isFalse();
    assertThat(socket.isReadable()).isFalse();
    idle.send(RawPeer.batch(0, new byte[] {1}));
    run.runUntil(() -> run.received.size() == 1);
    assertThat(socket.wasDisconnected()).isFalse();
    run.with(silent::awaitClose); // it waits from now on, like any other
    idle.close();
    RawPeer next = run.sender(RawPeer.batch(0, new byte[] {2}));
    run.runUntil(() -> run.received.size() == 2);
    assertThat(run.received.get(1)[2]).containsExactly(2);
    dead.close();
    garbage.close();
    next.close();
  }

  @Test
  void othersThatSendNothingDoNotKeepAPublisherFromItsTurn() throws IOException {
    ZmtpSocket socket = run.bound();
    RawPeer idle = run.sender();
    run.runUntil(socket::wasConnected);
    RawPeer silent = run.sender();
    RawPeer publisher = run.sender(RawPeer.batch(0, new byte[] {3}));
    run.pass(15);
    assertThat(run.received).isEmpty();
    run.pass(10);
    run.runUntil(() -> run.received.size() == 1);
    idle.close();
    silent.close();
    publisher.close();
  }

  /** Without file descriptors, the peer waits, and the selector would return at once. */
  @Test
  void aPeerThatCannotBeAcceptedDoesNotKeepTheThreadBusy() throws IOException {
    int port = run.server.getLocalPort();
    run.server.close();
    int[] tries = {0};
    boolean[] full = {true};
    ZmtpListener listener =
        new ZmtpListener(
            run.loop,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            from -> {
              tries[0]++;
              if (full[0]) {
                throw new IOException("Too many open files");
              }
              return from.accept();
            });
    RawPeer peer = RawPeer.connect(port);
    for (int i = 0; i < 100; i++) {
      run.loop.select(1);
      listener.tick(run.loop.nowNs());
    }
    assertThat(tries[0]).isEqualTo(1);
    full[0] = false;
    for (int i = 0; i < 20; i++) {
      run.skippedNs += 100_000_000;
      run.loop.select(1);
      listener.tick(run.loop.nowNs());
    }
    assertThat(listener.waiting()).isEqualTo(1);
    listener.close();
    peer.close();
  }
}
