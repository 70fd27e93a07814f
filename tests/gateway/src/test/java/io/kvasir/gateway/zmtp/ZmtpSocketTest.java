package io.kvasir.gateway.zmtp;

import static io.kvasir.gateway.zmtp.RunningSockets.MAX_HELD_BYTES;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A socket and peers that break rules. */
class ZmtpSocketTest {

  private RunningSockets run;

  @BeforeEach
  void listen() throws IOException {
    run = new RunningSockets();
  }

  @AfterEach
  void close() throws IOException {
    run.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 300, 1 << 18})
  void aMessageWithoutAnEndCostsTheConnection(int frameBytes) throws IOException {
    ZmtpSocket socket = run.subscriber();
    run.with(
        () -> {
          RawPeer peer = RawPeer.publisher(run.server);
          byte[] frame = RawPeer.frame(RawPeer.MORE, new byte[frameBytes]);
          for (int i = 0; i < 100_000; i++) {
            peer.send(frame);
          }
        });
    run.runUntil(() -> socket.dropped() == 1);
    assertThat(run.received).isEmpty();
    assertThat(run.loop.heldBytes()).isZero();
  }

  @Test
  void unfinishedMessagesOfAllConnectionsHaveOneBound() throws IOException {
    List<ZmtpSocket> all = new ArrayList<>();
    int large = (int) MAX_HELD_BYTES / 8;
    for (int i = 0; i < 12; i++) {
      ZmtpSocket socket = run.subscriber();
      all.add(socket);
      int bytes = large + i;
      run.with(
          () -> {
            RawPeer peer = RawPeer.publisher(run.server);
            peer.send(RawPeer.header(0, 4L * large));
            peer.send(new byte[bytes]);
          });
    }
    run.runUntil(() -> all.stream().anyMatch(socket -> socket.dropped() > 0));
    assertThat(run.loop.heldBytes()).isBetween(1L, MAX_HELD_BYTES);
    ZmtpSocket honest = run.subscriber();
    run.with(
        () -> {
          RawPeer peer = RawPeer.publisher(run.server);
          peer.send(RawPeer.batch(0, new byte[100]));
        });
    run.runUntil(() -> run.received.size() == 1);
    assertThat(honest.dropped()).isZero();
  }

  @Test
  void aPeerThatAsksAndDoesNotReadIsDropped() throws IOException {
    ZmtpSocket socket = run.subscriber();
    RawPeer[] peers = new RawPeer[1];
    run.with(() -> peers[0] = RawPeer.publisher(run.server));
    // The answers alone could not fill the system's buffers: before that, the peer's kernel has no
    // memory left for the acknowledgements of what it sends, and the questions stop.
    while (run.loop.bufferBytes() == 0) {
      socket.send(new byte[16 << 10]);
    }
    assertThat(socket.dropped()).isZero();
    run.with(
        () -> {
          byte[] ping =
              RawPeer.frame(
                  RawPeer.COMMAND, "\4PING\0\0context".getBytes(StandardCharsets.US_ASCII));
          for (int i = 0; i < 100_000; i++) {
            peers[0].send(ping);
          }
        });
    run.runUntil(() -> socket.dropped() == 1);
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
      ZmtpSocket socket = run.subscriber();
      run.with(
          () -> {
            RawPeer peer = RawPeer.accept(run.server);
            for (byte[] part : greeting) {
              peer.send(part);
            }
          });
      run.runUntil(() -> socket.dropped() == 1);
      socket.close();
      run.sockets.remove(socket);
    }
  }

  @Test
  void anUnreadMessageWaitsAtThePeer() throws IOException {
    ZmtpSocket socket = run.subscriber();
    RawPeer[] peer = new RawPeer[1];
    run.with(() -> peer[0] = RawPeer.publisher(run.server));
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
      run.loop.select(1); // messages come, and are not received
    }
    assertThat(sender.isAlive()).isTrue();
    assertThat(run.loop.heldBytes()).isZero();
    run.runUntil(() -> run.received.size() == 200);
    peer[0].close();
    assertThat(socket.dropped()).isZero();
  }

  @Test
  void noBufferIsKeptAfterItsMessages() throws IOException {
    ZmtpSocket first = run.subscriber();
    RawPeer[] peers = new RawPeer[2];
    run.with(() -> peers[0] = RawPeer.publisher(run.server));
    ZmtpSocket second = run.subscriber();
    run.with(() -> peers[1] = RawPeer.publisher(run.server));
    byte[] batch = RawPeer.batch(0, new byte[1_000]);
    byte[] two = Arrays.copyOf(batch, 2 * batch.length);
    System.arraycopy(batch, 0, two, batch.length, batch.length);
    for (RawPeer peer : peers) {
      peer.send(two);
    }
    RunningSockets.repeat(
        () -> run.loop.select(10), () -> first.isReadable() && second.isReadable());
    assertThat(first.receive()).isEqualTo(ZmtpSocket.Received.MESSAGE);
    assertThat(second.receive()).isEqualTo(ZmtpSocket.Received.MESSAGE);
    assertThat(run.loop.bufferBytes()).as("what the first has not decoded").isPositive();
    run.runUntil(() -> run.received.size() == 2);
    assertThat(run.loop.bufferBytes()).isZero();
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
          ZmtpSocket socket = run.subscriber();
          RawPeer[] peer = new RawPeer[1];
          run.with(
              () -> {
                peer[0] = RawPeer.accept(run.server);
                peer[0].send(greeting);
              });
          run.runUntil(() -> socket.dropped() == 1);
          socket.close();
          run.sockets.remove(socket);
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
}
