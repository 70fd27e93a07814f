package io.kvasir.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A socket and peers that break rules. The test runs the socket's loop itself. */
class ZmtpSocketTest {

  private static final long MAX_HELD_BYTES = 1 << 20;
  private static final int TRIES = 6_000;

  private final ZmtpLoop loop = new ZmtpLoop(MAX_HELD_BYTES);
  private final List<ZmtpSocket> sockets = new ArrayList<>();
  private final List<byte[][]> received = new ArrayList<>();
  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    server = RawPeer.listen();
  }

  @AfterEach
  void close() throws IOException {
    sockets.forEach(ZmtpSocket::close);
    loop.close();
    server.close();
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private ZmtpSocket subscriber() throws IOException {
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.connect(RawPeer.endpoint(server));
    return socket;
  }

  private void runUntil(Condition condition) throws IOException {
    boolean holds = condition.holds();
    for (int i = 0; i < TRIES && !holds; i++) {
      loop.select(10);
      for (ZmtpSocket socket : sockets) {
        ZmtpSocket.Received found = socket.receive();
        while (found != ZmtpSocket.Received.NOTHING) {
          if (found == ZmtpSocket.Received.MESSAGE) {
            received.add(socket.takeMessage());
          }
          found = socket.receive();
        }
        socket.tick(System.nanoTime());
      }
      holds = condition.holds();
    }
    assertThat(holds).isTrue();
  }

  /** Runs what a peer does on a thread of its own, and the loop until it is done. */
  private void with(Peer peer) throws IOException {
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

  private interface Peer {
    void run() throws IOException;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 300, 1 << 18})
  void aMessageWithoutAnEndCostsTheConnection(int frameBytes) throws IOException {
    ZmtpSocket socket = subscriber();
    with(
        () -> {
          RawPeer peer = RawPeer.publisher(server);
          byte[] frame = RawPeer.frame(RawPeer.MORE, new byte[frameBytes]);
          for (int i = 0; i < 100_000; i++) {
            peer.send(frame);
          }
        });
    runUntil(() -> socket.dropped() == 1);
    assertThat(received).isEmpty();
    assertThat(loop.heldBytes()).isZero();
  }

  @Test
  void unfinishedMessagesOfAllConnectionsHaveOneBound() throws IOException {
    List<ZmtpSocket> all = new ArrayList<>();
    int large = (int) MAX_HELD_BYTES / 8;
    for (int i = 0; i < 12; i++) {
      ZmtpSocket socket = subscriber();
      all.add(socket);
      int bytes = large + i;
      with(
          () -> {
            RawPeer peer = RawPeer.publisher(server);
            peer.send(RawPeer.header(0, 4L * large));
            peer.send(new byte[bytes]);
          });
    }
    runUntil(() -> all.stream().anyMatch(socket -> socket.dropped() > 0));
    assertThat(loop.heldBytes()).isBetween(1L, MAX_HELD_BYTES);
    ZmtpSocket honest = subscriber();
    with(
        () -> {
          RawPeer peer = RawPeer.publisher(server);
          peer.send(RawPeer.batch(0, new byte[100]));
        });
    runUntil(() -> received.size() == 1);
    assertThat(honest.dropped()).isZero();
  }

  @Test
  void aPeerThatAsksAndDoesNotReadIsDropped() throws IOException {
    ZmtpSocket socket = subscriber();
    with(
        () -> {
          RawPeer peer = RawPeer.publisher(server);
          byte[] ping =
              RawPeer.frame(
                  RawPeer.COMMAND, "\4PING\0\0context".getBytes(StandardCharsets.US_ASCII));
          for (int i = 0; i < 10_000_000; i++) {
            peer.send(ping);
          }
        });
    runUntil(() -> socket.dropped() == 1);
  }

  @Test
  void peersThatAreNoPublishersAreDropped() throws IOException {
    List<byte[][]> greetings =
        List.of(
            new byte[][] {
              "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n                        "
                  .getBytes(StandardCharsets.US_ASCII)
            },
            new byte[][] {RawPeer.greeting(1, "NULL")},
            new byte[][] {RawPeer.greeting(3, "CURVE")},
            new byte[][] {RawPeer.greeting(3, "NULL"), RawPeer.ready("PUSH")},
            new byte[][] {RawPeer.greeting(3, "NULL"), RawPeer.frame(0, new byte[3])},
            new byte[][] {RawPeer.greeting(3, "NULL"), RawPeer.frame(RawPeer.COMMAND, new byte[0])},
            new byte[][] {
              RawPeer.greeting(3, "NULL"),
              RawPeer.frame(RawPeer.COMMAND, new byte[] {5, 'R', 'E', 'A', 'D', 'Y', 100, 1})
            });
    for (byte[][] greeting : greetings) {
      ZmtpSocket socket = subscriber();
      with(
          () -> {
            RawPeer peer = RawPeer.accept(server);
            for (byte[] part : greeting) {
              peer.send(part);
            }
          });
      runUntil(() -> socket.dropped() == 1);
      socket.close();
      sockets.remove(socket);
    }
  }

  @Test
  void aBoundSocketKeepsItsFirstPeerAndThenTakesTheNext() throws IOException {
    int port = server.getLocalPort();
    server.close();
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.bind("tcp://127.0.0.1:" + port);
    RawPeer[] first = new RawPeer[1];
    with(
        () -> {
          first[0] = RawPeer.connect(port);
          first[0].handshake("PUB");
          first[0].send(RawPeer.batch(0, new byte[] {1}));
        });
    runUntil(() -> received.size() == 1);
    RawPeer second = RawPeer.connect(port);
    second.send(RawPeer.greeting(3, "NULL"));
    second.send(RawPeer.ready("PUB"));
    second.send(RawPeer.batch(0, new byte[] {2}));
    first[0].send(RawPeer.batch(1, new byte[] {3}));
    runUntil(() -> received.size() == 2);
    assertThat(received.get(1)[2]).containsExactly(3);
    assertThat(socket.wasDisconnected()).isFalse();
    first[0].close();
    runUntil(() -> received.size() == 3);
    assertThat(received.get(2)[2]).containsExactly(2);
    assertThat(socket.wasDisconnected()).isTrue();
    second.close();
  }

  @Test
  void anUnreadMessageWaitsAtThePeer() throws IOException {
    ZmtpSocket socket = subscriber();
    RawPeer[] peer = new RawPeer[1];
    with(() -> peer[0] = RawPeer.publisher(server));
    Thread sender =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < 200; i++) {
                  peer[0].send(RawPeer.batch(i, new byte[1 << 18]));
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    sender.setDaemon(true);
    sender.start();
    for (int i = 0; i < 200; i++) {
      loop.select(1); // messages come, and are not received
    }
    assertThat(sender.isAlive()).isTrue();
    assertThat(loop.heldBytes()).isZero();
    runUntil(() -> received.size() == 200);
    peer[0].close();
    assertThat(socket.dropped()).isZero();
  }

  @Test
  void anIdlePeerThatAnswersHeartbeatsIsProven() throws IOException {
    ZmtpSocket socket = subscriber();
    RawPeer[] peer = new RawPeer[1];
    with(() -> peer[0] = RawPeer.publisher(server));
    for (int i = 0; i < 2; i++) {
      with(() -> peer[0].answerHeartbeat());
      long sentNs = System.nanoTime(); // the answer may have been read already
      with(() -> peer[0].answerHeartbeat());
      runUntil(() -> socket.isProven(sentNs));
    }
    assertThat(socket.wasDisconnected()).isFalse();
    peer[0].close();
  }

  @Test
  void aPeerThatStopsToAnswerHeartbeatsIsNotProvenAndThenGone() throws IOException {
    ZmtpSocket socket = subscriber();
    RawPeer[] peer = new RawPeer[1];
    with(() -> peer[0] = RawPeer.publisher(server));
    with(() -> peer[0].answerHeartbeat());
    long answeredNs = System.nanoTime();
    with(() -> peer[0].readFrame()); // the next heartbeat
    assertThat(socket.isProven(System.nanoTime())).isFalse();
    assertThat(socket.isProven(answeredNs - Integer.MAX_VALUE * 60L)).isTrue();
    runUntil(socket::wasDisconnected);
    peer[0].close();
  }

  @Test
  void aPeerThatOnlyTakesTheEndpointGivesWay() throws IOException {
    int port = server.getLocalPort();
    server.close();
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.bind("tcp://127.0.0.1:" + port);
    RawPeer[] idle = new RawPeer[1];
    with(
        () -> {
          idle[0] = RawPeer.connect(port);
          idle[0].handshake("PUB");
        });
    RawPeer second = RawPeer.connect(port);
    second.send(RawPeer.greeting(3, "NULL"));
    second.send(RawPeer.ready("PUB"));
    second.send(RawPeer.batch(0, new byte[] {2}));
    runUntil(() -> received.size() == 1);
    idle[0].close();
    second.close();
  }
}
