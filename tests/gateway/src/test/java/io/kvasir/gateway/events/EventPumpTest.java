package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Live batches, replays and restarts of engines, over real sockets. */
class EventPumpTest {

  private static final RankId RANK = new RankId(1, 0);

  /** CPU time that the test uses while the pump rests. */
  private static final long BUSY_NS = 100_000_000;

  private final EventPump pump = new EventPump();
  private final GapSink sink = new GapSink();
  private FakePublisher publisher = new FakePublisher(true, 10_000);

  @AfterEach
  void close() {
    pump.close();
    publisher.close();
  }

  private void follow() {
    pump.add(new FeedSpec(RANK, publisher.live(), publisher.replay(), "", false), sink);
  }

  private static byte[] batch(int n) {
    return new byte[] {(byte) (n >> 8), (byte) n};
  }

  private static byte[][] batches(int from, int to) {
    return IntStream.range(from, to).mapToObj(EventPumpTest::batch).toArray(byte[][]::new);
  }

  private static List<Integer> numbers(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  private void awaitApplied(List<Integer> expected) {
    Await.until("all batches", () -> sink.applied().equals(expected));
  }

  private FeedStatus status() {
    return pump.status(sink);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatWasPublishedBeforeIsReplayed(boolean topicInReplay) {
    publisher.close();
    publisher = new FakePublisher(topicInReplay, 10_000);
    publisher.lose(batches(0, 50));
    follow();
    awaitApplied(numbers(0, 50));
    publisher.publish(batches(50, 100));
    awaitApplied(numbers(0, 100));
    assertThat(sink.restarts()).isZero();
    assertThat(sink.gone()).isZero();
    Await.until("a complete stream", () -> status().state() == FeedState.LIVE);
  }

  @Test
  void lostBatchesAreRecoveredInOrder() {
    publisher.lose(batches(0, 1));
    follow();
    awaitApplied(numbers(0, 1));
    publisher.publish(batches(1, 3));
    publisher.lose(batches(3, 40));
    publisher.publish(batches(40, 60));
    awaitApplied(numbers(0, 60));
    assertThat(status().replayedBatches()).isPositive();
  }

  @Test
  void anIdleRankIsAskedForWhatItPublishedUnseen() {
    publisher.lose(batches(0, 1));
    follow();
    awaitApplied(numbers(0, 1));
    publisher.lose(batches(1, 5));
    awaitApplied(numbers(0, 5));
  }

  @Test
  void holesInAReplayAreAskedForAgain() {
    publisher.lose(batches(0, 4_000));
    publisher.holesInNextReplay(
        number ->
            (number >= 1_200 && number < 1_300)
                || (number >= 2_500 && number < 2_777)
                || number == 3_999);
    follow();
    awaitApplied(numbers(0, 4_000));
    assertThat(publisher.replays()).isGreaterThanOrEqualTo(2);
    assertThat(sink.gone()).isZero();
    assertThat(sink.restarts()).isZero();
  }

  @Test
  void anOverwrittenRingIsACleanStart() {
    publisher.close();
    publisher = new FakePublisher(true, 10);
    publisher.lose(batches(0, 100));
    follow();
    awaitApplied(numbers(90, 100));
    publisher.publish(batches(100, 110));
    awaitApplied(numbers(90, 110));
    assertThat(sink.gone()).isEqualTo(1);
    assertThat(sink.restarts()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 20, 45})
  void aRestartIsSeenWhetherOrNotItsNumbersGoOn(int unseen) {
    publisher.lose(batches(0, 1));
    follow();
    awaitApplied(numbers(0, 1));
    publisher.publish(batches(1, 20));
    awaitApplied(numbers(0, 20));
    publisher.restart();
    publisher.lose(batches(100, 100 + unseen));
    Await.until("a subscriber", publisher::subscribed);
    publisher.publish(batch(100 + unseen));
    awaitApplied(numbers(100, 101 + unseen));
    assertThat(sink.restarts()).isEqualTo(1);
    assertThat(sink.gone()).isZero();
  }

  @Test
  void aRestartWithoutEventsIsSeen() {
    publisher.lose(batches(0, 5));
    follow();
    awaitApplied(numbers(0, 5));
    Await.until("a question to the idle rank", () -> publisher.replays() >= 2);
    publisher.restart();
    Await.until("a restart", () -> sink.restarts() == 1 && sink.applied().isEmpty());
    publisher.lose(batches(7, 9));
    awaitApplied(numbers(7, 9));
    assertThat(sink.restarts()).isEqualTo(1);
  }

  @Test
  void aRestartThatHasPublishedMoreIsSeenByItsContent() {
    publisher.lose(batches(0, 5));
    follow();
    awaitApplied(numbers(0, 5));
    publisher.restart();
    publisher.lose(batches(100, 120));
    awaitApplied(numbers(100, 120));
    assertThat(sink.restarts()).isEqualTo(1);
  }

  @Test
  void aReplaySocketThatDoesNotAnswerIsAskedAgain() {
    publisher.answerReplay(false);
    publisher.lose(batches(0, 5));
    follow();
    Await.until("silence", () -> status() != null && status().state() == FeedState.SILENT);
    publisher.answerReplay(true);
    awaitApplied(numbers(0, 5));
    Await.until("a complete stream", () -> status().state() == FeedState.LIVE);
  }

  @Test
  void withoutAReplaySocketAGapIsACleanStart() {
    pump.add(new FeedSpec(RANK, publisher.live(), null, "kv", false), sink);
    Await.until(
        "a first batch",
        () -> {
          publisher.publish(batch(1));
          return !sink.applied().isEmpty();
        });
    publisher.lose(batches(2, 5));
    publisher.publish(batches(7, 9));
    awaitApplied(numbers(7, 9));
    assertThat(sink.gone()).isPositive();
  }

  @Test
  void anUnreadableBatchIsTakenFromTheReplay() {
    publisher.lose(batches(0, 1));
    follow();
    awaitApplied(numbers(0, 1));
    publisher.publish(new byte[] {0, 1, 99}, batch(2));
    awaitApplied(numbers(0, 3));
    assertThat(status().invalidMessages()).isEqualTo(1);
  }

  @Test
  void otherMessagesAreCounted() {
    publisher.lose(batches(0, 1));
    follow();
    awaitApplied(numbers(0, 1));
    byte[] topic = "kv-events".getBytes(StandardCharsets.US_ASCII);
    publisher.send(topic);
    publisher.send(topic, new byte[8]);
    publisher.send(topic, new byte[7], batch(1));
    publisher.send(topic, new byte[8], batch(1), batch(1));
    publisher.send(topic, new byte[] {-1, 0, 0, 0, 0, 0, 0, 0}, batch(1));
    publisher.publish(batch(1));
    awaitApplied(numbers(0, 2));
    Await.until("five invalid messages", () -> status().invalidMessages() == 5);
    assertThat(sink.restarts()).isZero();
  }

  @Test
  void aRemovedRankIsNotFollowed() {
    publisher.lose(batches(0, 2));
    follow();
    awaitApplied(numbers(0, 2));
    pump.remove(sink);
    Await.until("the end of the feed", () -> pump.status(sink) == null);
    publisher.publish(batches(2, 4));
    assertThat(sink.applied()).isEqualTo(numbers(0, 2));
  }

  @Test
  void aHostIsFollowedByItsName() {
    publisher.lose(batches(0, 1));
    String live = publisher.live().replace("127.0.0.1", "localhost");
    String replay = publisher.replay().replace("127.0.0.1", "localhost");
    pump.add(new FeedSpec(RANK, live, replay, "", false), sink);
    awaitApplied(numbers(0, 1));
    Await.until(
        "a live batch",
        () -> {
          publisher.publish(batch(sink.applied().size()));
          return status().batches() > status().replayedBatches() + 1;
        });
  }

  @Test
  void anUnknownHostDisturbsNoOtherRank() {
    RankId unknown = new RankId(2, 0);
    String nowhere = "tcp://kvasir-test.invalid:5557";
    GapSink lost = new GapSink();
    pump.add(new FeedSpec(unknown, nowhere, nowhere, "", false), lost);
    publisher.lose(batches(0, 5));
    follow();
    awaitApplied(numbers(0, 5));
    publisher.lose(batches(5, 8));
    awaitApplied(numbers(0, 8));
    assertThat(pump.status(lost).state()).isEqualTo(FeedState.CONNECTING);
    assertThat(sink.restarts()).isZero();
  }

  @Test
  void aPortInUseIsBoundOnceItIsFree() throws IOException {
    FeedSpec spec;
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      spec = new FeedSpec(RANK, "tcp://127.0.0.1:" + other.getLocalPort(), null, "", true);
      pump.add(spec, sink);
      follow(new RankId(2, 0));
    }
    try (ZContext context = new ZContext()) {
      ZMQ.Socket engine = context.createSocket(SocketType.PUB);
      engine.connect(spec.live());
      byte[] number = new byte[Long.BYTES];
      Await.until(
          "a batch at the port",
          () -> {
            engine.sendMore("");
            engine.sendMore(number);
            engine.send(batch(0));
            number[Long.BYTES - 1]++;
            return !sink.applied().isEmpty();
          });
    }
  }

  /** Follows the publisher as another rank until its batches arrive: the pump has worked then. */
  private void follow(RankId rank) {
    GapSink other = new GapSink();
    publisher.lose(batches(0, 1));
    pump.add(new FeedSpec(rank, publisher.live(), publisher.replay(), "", false), other);
    Await.until("another rank's batches", () -> !other.applied().isEmpty());
  }

  @Test
  void numbersThatNeverExistedAreSkipped() {
    publisher.lose(batches(0, 3));
    follow();
    awaitApplied(numbers(0, 3));
    publisher.skip(4);
    publisher.publish(batches(7, 9));
    Await.until("a hole that no replay fills", () -> sink.gone() == 1);
    awaitApplied(numbers(7, 9));
    publisher.publish(batches(9, 12));
    awaitApplied(numbers(7, 12));
  }

  @Test
  void otherTopicsAreNotReceived() {
    publisher.lose(batches(0, 1));
    pump.add(new FeedSpec(RANK, publisher.live(), publisher.replay(), "kv-events", false), sink);
    awaitApplied(numbers(0, 1));
    publisher.send("kv".getBytes(StandardCharsets.US_ASCII), new byte[8], batch(1));
    publisher.publish(batches(1, 3));
    awaitApplied(numbers(0, 3));
    assertThat(sink.restarts()).as("number 0 of another topic").isZero();
    assertThat(status().invalidMessages()).isZero();
  }

  @Test
  void twoSinksFollowTheSameRank() {
    publisher.lose(batches(0, 1));
    follow();
    GapSink second = new GapSink();
    pump.add(new FeedSpec(RANK, publisher.live(), publisher.replay(), "", false), second);
    Await.until("the second sink's batches", () -> !second.applied().isEmpty());
    pump.remove(second);
    Await.until("the end of the second feed", () -> pump.status(second) == null);
    publisher.publish(batches(1, 4));
    awaitApplied(numbers(0, 4));
  }

  @Test
  void aSinkThatFailsDisturbsNoOther() {
    publisher.lose(batches(0, 1));
    GapSink failing =
        new GapSink() {
          @Override
          public synchronized void retry() {
            throw new IllegalStateException("for the test");
          }
        };
    pump.add(
        new FeedSpec(new RankId(2, 0), publisher.live(), publisher.replay(), "", false), failing);
    pump.execute(
        () -> {
          throw new IllegalStateException("for the test");
        });
    follow();
    awaitApplied(numbers(0, 1));
    Await.until(
        "a failure",
        () -> pump.status(failing) != null && pump.status(failing).state() == FeedState.SILENT);
    publisher.publish(batches(1, 3));
    awaitApplied(numbers(0, 3));
    assertThat(sink.restarts()).isZero();
  }

  /** A thread that does not rest gets as much of the processor as this one, or more. */
  @Test
  void aPumpWithoutRanksRests() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = cpuNs();
    long endNs = threads.getCurrentThreadCpuTime() + BUSY_NS;
    while (threads.getCurrentThreadCpuTime() < endNs) {
      Thread.onSpinWait();
    }
    assertThat(cpuNs() - before).isLessThan(BUSY_NS / 4);
  }

  /** CPU time of all pumps. */
  private static long cpuNs() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
        .filter(thread -> thread != null && thread.getThreadName().equals("kvasir-events"))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
        .sum();
  }
}
