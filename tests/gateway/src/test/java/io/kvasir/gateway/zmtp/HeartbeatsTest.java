package io.kvasir.gateway.zmtp;

import static io.kvasir.gateway.zmtp.RunningSockets.HEARTBEAT_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which silent peers are proven to be there. */
class HeartbeatsTest {

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
  void anIdlePeerThatAnswersHeartbeatsIsProven() throws IOException {
    ZmtpSocket socket = run.subscriber();
    RawPeer[] peer = new RawPeer[1];
    run.with(() -> peer[0] = RawPeer.publisher(run.server));
    for (int i = 0; i < 2; i++) {
      run.answerNextHeartbeat(peer[0]);
      long sentNs = run.loop.nowNs(); // the answer may have been read already
      run.answerNextHeartbeat(peer[0]);
      run.runUntil(() -> socket.isProven(sentNs));
    }
    assertThat(socket.wasDisconnected()).isFalse();
    peer[0].close();
  }

  @Test
  void aPeerThatStopsToAnswerHeartbeatsIsNotProvenAndThenGone() throws IOException {
    ZmtpSocket socket = run.subscriber();
    RawPeer[] peer = new RawPeer[1];
    run.with(() -> peer[0] = RawPeer.publisher(run.server));
    run.answerNextHeartbeat(peer[0]);
    long answeredNs = run.loop.nowNs();
    run.pass(HEARTBEAT_SECONDS);
    run.with(() -> peer[0].readFrame());
    assertThat(socket.isProven(run.loop.nowNs())).isFalse();
    assertThat(socket.isProven(answeredNs - Integer.MAX_VALUE * 60L)).isTrue();
    run.pass(6);
    run.runUntil(socket::wasDisconnected);
    peer[0].close();
  }

  /** The answer has arrived, and this process has not read it, because it was suspended. */
  @Test
  void aPauseOfThisProcessIsNotThePeersSilence() throws IOException {
    ZmtpSocket socket = run.subscriber();
    RawPeer[] peer = new RawPeer[1];
    run.with(() -> peer[0] = RawPeer.publisher(run.server));
    run.answerNextHeartbeat(peer[0]);
    run.pass(HEARTBEAT_SECONDS);
    run.with(() -> peer[0].readFrame());
    peer[0].send(RawPeer.frame(RawPeer.COMMAND, "\4PONG".getBytes(StandardCharsets.ISO_8859_1)));
    run.skippedNs += 60_000_000_000L;
    socket.tick(run.loop.nowNs());
    assertThat(socket.wasDisconnected()).isFalse();
    assertThat(socket.isProven(run.loop.nowNs() - 10_000_000_000L)).isTrue();
    run.answerNextHeartbeat(peer[0]);
    assertThat(socket.wasDisconnected()).isFalse();
    peer[0].close();
  }
}
