package io.kvasir.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A socket and peers that break rules. The test runs the socket's loop itself. */
class ZmtpSocketTest {

  private static final long MAX_HELD_BYTES = 1 << 20;

  /** Silence in which a peer is asked once. */
  private static final int HEARTBEAT_SECONDS = 2;

  private final ZmtpLoop loop =
      new ZmtpLoop(MAX_HELD_BYTES, () -> System.nanoTime() + this.skippedNs);
  private final List<ZmtpSocket> sockets = new ArrayList<>();
  private final List<byte[][]> received = new ArrayList<>();
  private ServerSocket server;
  private long skippedNs;

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

  private interface Step {
    void run() throws IOException;
  }

  private ZmtpSocket subscriber() throws IOException {
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.connect(RawPeer.endpoint(server));
    return socket;
  }

  private void runUntil(Condition condition) throws IOException {
    repeat(() -> turn(10), condition);
  }

  /** Unlike {@link Await}, without a pause between the steps. */
  private static void repeat(Step step, Condition until) throws IOException {
    long startNs = System.nanoTime();
    while (!until.holds()) {
      assertThat(System.nanoTime() - startNs).isLessThan(Await.limit().toNanos());
      step.run();
    }
  }

  private void turn(int waitMs) throws IOException {
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
  private void pass(int seconds) throws IOException {
    for (int i = 0; i < 10 * seconds; i++) {
      skippedNs += 100_000_000;
      turn(0);
    }
  }

  private void answerNextHeartbeat(RawPeer peer) throws IOException {
    pass(HEARTBEAT_SECONDS);
    with(peer::answerHeartbeat);
  }

  private ZmtpSocket bound() throws IOException {
    server.close();
    ZmtpSocket socket = new ZmtpSocket(loop, ZmtpRole.SUB, new byte[0]);
    sockets.add(socket);
    socket.bind(RawPeer.endpoint(server));
    return socket;
  }

  /** A peer that sends what a publisher sends, without reading. */
  private RawPeer sender(byte[]... messages) throws IOException {
    RawPeer peer = RawPeer.connect(server.getLocalPort());
    peer.send(RawPeer.greeting(3, "NULL"));
    peer.send(RawPeer.ready("PUB"));
    for (byte[] message : messages) {
      peer.send(message);
    }
    return peer;
  }

  /** Runs what a peer does on a thread of its own, and the loop until it is done. */
  private void with(Step peer) throws IOException {
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
    RawPeer[] peers = new RawPeer[1];
    with(() -> peers[0] = RawPeer.publisher(server));
    // The answers alone could not fill the system's buffers: before that, the peer's kernel has no
    // memory left for the acknowledgements of what it sends, and the questions stop.
    while (loop.bufferBytes() == 0) {
      socket.send(new byte[16 << 10]);
    }
    assertThat(socket.dropped()).isZero();
    with(
        () -> {
          byte[] ping =
              RawPeer.frame(
                  RawPeer.COMMAND, "\4PING\0\0context".getBytes(StandardCharsets.US_ASCII));
          for (int i = 0; i < 100_000; i++) {
            peers[0].send(ping);
          }
        });
    runUntil(() -> socket.dropped() == 1);
    peers[0].close();
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
      answerNextHeartbeat(peer[0]);
      long sentNs = loop.nowNs(); // the answer may have been read already
      answerNextHeartbeat(peer[0]);
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
    answerNextHeartbeat(peer[0]);
    long answeredNs = loop.nowNs();
    pass(HEARTBEAT_SECONDS);
    with(() -> peer[0].readFrame());
    assertThat(socket.isProven(loop.nowNs())).isFalse();
    assertThat(socket.isProven(answeredNs - Integer.MAX_VALUE * 60L)).isTrue();
    pass(6);
    runUntil(socket::wasDisconnected);
    peer[0].close();
  }

  @Test
  void aPeerThatOnlyTakesTheEndpointGivesWay() throws IOException {
    ZmtpSocket socket = bound();
    RawPeer idle = sender();
    runUntil(socket::wasConnected);
    RawPeer second = sender(RawPeer.batch(0, new byte[] {2}));
    pass(9);
    assertThat(received).isEmpty();
    pass(2);
    runUntil(() -> received.size() == 1);
    assertThat(socket.wasDisconnected()).isTrue();
    idle.close();
    second.close();
  }

  @Test
  void aPeerThatSendsNothingDoesNotTakeThePlaceOfAnIdleOne() throws IOException {
    ZmtpSocket socket = bound();
    RawPeer idle = sender();
    runUntil(socket::wasConnected);
    RawPeer dead = RawPeer.connect(server.getLocalPort());
    RawPeer garbage = RawPeer.connect(server.getLocalPort());
    garbage.send(new byte[100]);
    RawPeer silent = sender();
    pass(60);
    assertThat(socket.wasDisconnected()).isFalse();
    assertThat(socket.isReadable()).isFalse();
    idle.send(RawPeer.batch(0, new byte[] {1}));
    runUntil(() -> received.size() == 1);
    assertThat(socket.wasDisconnected()).isFalse();
    with(silent::awaitClose); // it waits from now on, like any other
    idle.close();
    RawPeer next = sender(RawPeer.batch(0, new byte[] {2}));
    runUntil(() -> received.size() == 2);
    assertThat(received.get(1)[2]).containsExactly(2);
    dead.close();
    garbage.close();
    next.close();
  }

  @Test
  void othersThatSendNothingDoNotKeepAPublisherFromItsTurn() throws IOException {
    ZmtpSocket socket = bound();
    RawPeer idle = sender();
    runUntil(socket::wasConnected);
    RawPeer silent = sender();
    RawPeer publisher = sender(RawPeer.batch(0, new byte[] {3}));
    pass(15);
    assertThat(received).isEmpty();
    pass(10);
    runUntil(() -> received.size() == 1);
    idle.close();
    silent.close();
    publisher.close();
  }

  /** The answer has arrived, and this process has not read it, because it was suspended. */
  @Test
  void aPauseOfThisProcessIsNotThePeersSilence() throws IOException {
    ZmtpSocket socket = subscriber();
    RawPeer[] peer = new RawPeer[1];
    with(() -> peer[0] = RawPeer.publisher(server));
    answerNextHeartbeat(peer[0]);
    pass(HEARTBEAT_SECONDS);
    with(() -> peer[0].readFrame());
    peer[0].send(RawPeer.frame(RawPeer.COMMAND, "\4PONG".getBytes(StandardCharsets.ISO_8859_1)));
    skippedNs += 60_000_000_000L;
    socket.tick(loop.nowNs());
    assertThat(socket.wasDisconnected()).isFalse();
    assertThat(socket.isProven(loop.nowNs() - 10_000_000_000L)).isTrue();
    answerNextHeartbeat(peer[0]);
    assertThat(socket.wasDisconnected()).isFalse();
    peer[0].close();
  }

  @Test
  void noBufferIsKeptAfterItsMessages() throws IOException {
    ZmtpSocket first = subscriber();
    RawPeer[] peers = new RawPeer[2];
    with(() -> peers[0] = RawPeer.publisher(server));
    ZmtpSocket second = subscriber();
    with(() -> peers[1] = RawPeer.publisher(server));
    byte[] batch = RawPeer.batch(0, new byte[1_000]);
    byte[] two = Arrays.copyOf(batch, 2 * batch.length);
    System.arraycopy(batch, 0, two, batch.length, batch.length);
    for (RawPeer peer : peers) {
      peer.send(two);
    }
    repeat(() -> loop.select(10), () -> first.isReadable() && second.isReadable());
    assertThat(first.receive()).isEqualTo(ZmtpSocket.Received.MESSAGE);
    assertThat(second.receive()).isEqualTo(ZmtpSocket.Received.MESSAGE);
    assertThat(loop.bufferBytes()).as("what the first has not decoded").isPositive();
    runUntil(() -> received.size() == 2);
    assertThat(loop.bufferBytes()).isZero();
    for (RawPeer peer : peers) {
      peer.close();
    }
  }

  /** Peers of older versions send the beginning of a greeting, and wait for a reply they know. */
  @Test
  void aPeerOfAnOlderVersionIsLoggedOnce() throws IOException {
    byte[] second = Arrays.copyOf(RawPeer.greeting(1, "NULL"), 12);
    List<byte[]> greetings = List.of(new byte[] {1, 0}, second);
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      for (byte[] greeting : greetings) {
        for (int time = 0; time < 3; time++) {
          ZmtpSocket socket = subscriber();
          RawPeer[] peer = new RawPeer[1];
          with(
              () -> {
                peer[0] = RawPeer.accept(server);
                peer[0].send(greeting);
              });
          runUntil(() -> socket.dropped() == 1);
          socket.close();
          sockets.remove(socket);
          peer[0].close();
        }
      }
    } finally {
      System.setErr(before);
    }
    assertThat(log.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce("the peer 127.0.0.1 speaks ZMTP 1.0, and only ZMTP 3 (ZeroMQ 4)")
        .containsOnlyOnce("the peer 127.0.0.1 speaks ZMTP 2.0, and only ZMTP 3 (ZeroMQ 4)");
  }

  /** Without file descriptors, the peer waits, and the selector would return at once. */
  @Test
  void aPeerThatCannotBeAcceptedDoesNotKeepTheThreadBusy() throws IOException {
    int port = server.getLocalPort();
    server.close();
    int[] tries = {0};
    boolean[] full = {true};
    ZmtpListener listener =
        new ZmtpListener(
            loop,
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
      loop.select(1);
      listener.tick(loop.nowNs());
    }
    assertThat(tries[0]).isEqualTo(1);
    full[0] = false;
    for (int i = 0; i < 20; i++) {
      skippedNs += 100_000_000;
      loop.select(1);
      listener.tick(loop.nowNs());
    }
    assertThat(listener.waiting()).isEqualTo(1);
    listener.close();
    peer.close();
  }
}
