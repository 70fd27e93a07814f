package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.zmtp.RawPeer;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Publishers that try to stop the events of other ranks, and publishers that are gone. */
class HostilePublishersTest {

  private static final RankId RANK = new RankId(1, 0);
  private static final RankId OTHER = new RankId(2, 0);

  private final EventPump pump =
      new EventPump(TimeUnit.MICROSECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(2));
  private final ProvenSink sink = new ProvenSink();
  private final GapSink other = new GapSink();
  private final FakePublisher publisher = new FakePublisher(true, 10_000);

  /** Notes whether its rank's events go on. */
  private static final class ProvenSink extends GapSink {
    volatile boolean proven;

    @Override
    public void onProven(boolean now) {
      proven = now;
    }
  }

  @AfterEach
  void close() {
    pump.close();
    publisher.close();
  }

  private static byte[][] batches(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(n -> ByteBuffer.allocate(2).putShort((short) n).array())
        .toArray(byte[][]::new);
  }

  private static List<Integer> numbers(int to) {
    return IntStream.range(0, to).boxed().toList();
  }

  private FeedState state() {
    FeedStatus status = pump.status(sink);
    return status == null ? FeedState.CONNECTING : status.state();
  }

  /** JeroMQ's limits count no parts of an unfinished message: its thread for all sockets died. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1 << 20})
  void anEndlessMessageStopsNoOtherRank(int frameBytes) throws IOException {
    try (ServerSocket server = RawPeer.listen()) {
      pump.add(new FeedSpec(OTHER, RawPeer.endpoint(server), null, "", false), other);
      publisher.lose(batches(0, 1));
      pump.add(new FeedSpec(RANK, publisher.live(), publisher.replay(), "", false), sink);
      Await.until("a first batch", () -> sink.applied().equals(numbers(1)));
      RawPeer hostile = RawPeer.publisher(server);
      byte[] frame = RawPeer.frame(RawPeer.MORE, new byte[frameBytes]);
      try {
        for (long bytes = 0; bytes < 4L << 30; bytes += frame.length) { // twice the heap
          hostile.send(frame);
        }
        throw new AssertionError("the connection stays");
      } catch (IOException e) {
        // dropped
      }
      publisher.publish(batches(1, 100));
      Await.until("the batches of the other rank", () -> sink.applied().equals(numbers(100)));
      Await.until("a count", () -> pump.status(other).droppedConnections() == 1);
      assertThat(sink.restarts()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRankWhosePublisherIsGoneIsNotLive(boolean replays) {
    publisher.lose(batches(0, 1));
    String replay = replays ? publisher.replay() : null;
    pump.add(new FeedSpec(RANK, publisher.live(), replay, "", false), sink);
    Await.until(
        "a batch",
        () -> {
          publisher.publish(batches(1, 2));
          return state() == FeedState.LIVE && sink.proven && !sink.applied().isEmpty();
        });
    publisher.close();
    Await.until("the end", () -> state() == FeedState.DISCONNECTED && !sink.proven);
  }

  @Test
  void aRankWhosePublisherComesBackIsLiveAgain() throws IOException {
    try (ServerSocket server = RawPeer.listen()) {
      pump.add(new FeedSpec(RANK, RawPeer.endpoint(server), null, "", false), sink);
      RawPeer first = RawPeer.publisher(server);
      first.send(RawPeer.batch(0, new byte[2]));
      Await.until("a batch", () -> state() == FeedState.LIVE && sink.proven);
      first.close();
      Await.until("the end", () -> state() == FeedState.DISCONNECTED && !sink.proven);
      RawPeer second = RawPeer.publisher(server);
      Await.until("a new beginning", () -> state() == FeedState.LIVE && sink.proven);
      second.close();
    }
  }

  /** The old and the new process of a rank in a rolling update. */
  @Test
  void twoPublishersAtABoundEndpointDoNotRestartEachOther() throws IOException {
    try (ReservedPort port = new ReservedPort()) {
      pump.add(new FeedSpec(RANK, "tcp://127.0.0.1:" + port.number(), null, "", true), sink);
      Await.until("a bound port", () -> pump.status(sink) != null);
      RawPeer old = RawPeer.connect(port.number());
      old.handshake("PUB");
      for (int n = 0; n < 20; n++) {
        old.send(RawPeer.batch(n, batches(n, n + 1)[0]));
      }
      Await.until("the old one's batches", () -> sink.applied().equals(numbers(20)));
      RawPeer young = RawPeer.connect(port.number());
      young.send(RawPeer.greeting(3, "NULL"));
      young.send(RawPeer.ready("PUB"));
      for (int n = 0; n < 20; n++) {
        young.send(RawPeer.batch(n, batches(n, n + 1)[0]));
        old.send(RawPeer.batch(20 + n, batches(20 + n, 21 + n)[0]));
      }
      Await.until("more of the old one's", () -> sink.applied().equals(numbers(40)));
      assertThat(sink.restarts()).isZero();
      old.close();
      Await.until(
          "the new one's", () -> sink.restarts() == 1 && sink.applied().equals(numbers(20)));
      young.close();
    }
  }
}
