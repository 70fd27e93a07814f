package io.kvasir.fleet.router.booking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadFrame;
import io.kvasir.fleet.load.LoadRequest;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.ReplicaOutbox;
import io.kvasir.fleet.load.ReplicatedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several routers in front of the same ranks, which tell each other what they place. */
class LoadExchangeTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 16);
  private static final int RANKS = 4;
  private static final int BLOCK = 16;
  private static final long SECOND_NS = 1_000_000_000L;

  private final AtomicLong clockNs = new AtomicLong();
  private final List<Replica> replicas = new ArrayList<>();
  private long requests;

  private final class Replica implements AutoCloseable {
    final FleetRouter router;
    final ReplicaOutbox outbox;
    final LoadExchange exchange;
    final List<Long> attempts = new ArrayList<>();

    Replica(String policy, Map<String, Object> args, long id) {
      router =
          FleetRouterKind.named(policy)
              .create(args, new FleetRouterSetup(HashFormat.KVASIR, BLOCK, clockNs::get, Map.of()));
      for (int rank = 0; rank < RANKS; rank++) {
        router.addRank(new RankId(rank, 0), RankCapacity.UNKNOWN);
      }
      outbox = new ReplicaOutbox(id);
      exchange = router.exchangeLoads(id, outbox::offer);
    }

    Placement place(int tokens) {
      int[] prompt = new SplittableRandom(++requests).ints(tokens).toArray();
      RouteOutcome outcome =
          router.route(FleetRequest.builder(requests, Prompt.of(prompt)).build());
      Placement placement = ((RouteOutcome.Placed) outcome).placement();
      attempts.add(placement.attempt());
      return placement;
    }

    /** Sends what waits to all, itself included. */
    void send() {
      outbox.drainTo(frame -> replicas.forEach(each -> each.exchange.onFrame(frame)));
    }

    /** States what is in flight to all, itself included. */
    void state() {
      exchange.state(frame -> replicas.forEach(each -> each.exchange.onFrame(frame)));
      replicas.forEach(Replica::send);
    }

    /** Sends what waits, and states what is in flight; some of the frames are lost. */
    void stateWithLosses(SplittableRandom random) {
      List<byte[]> frames = new ArrayList<>();
      outbox.drainTo(frames::add);
      exchange.state(frames::add);
      for (byte[] frame : frames) {
        for (Replica each : replicas) {
          if (random.nextInt(3) > 0) {
            each.exchange.onFrame(frame);
          }
        }
      }
    }

    List<List<Long>> loads() {
      PredictedLoads loads = new PredictedLoads();
      router.loads(loads);
      List<List<Long>> all = new ArrayList<>();
      for (int i = 0; i < loads.size(); i++) {
        all.add(
            List.of(
                loads.activeBlocks(i),
                loads.activePrefillTokens(i),
                (long) loads.activeRequests(i)));
      }
      return all;
    }

    @Override
    public void close() {
      router.close();
    }
  }

  private void start(String policy, int count) {
    start(policy, Map.of(), count);
  }

  private void start(String policy, Map<String, Object> args, int count) {
    for (int i = 0; i < count; i++) {
      replicas.add(new Replica(policy, args, i + 1));
    }
  }

  private static void stateThrice(Replica first, Replica second) {
    for (int round = 0; round < 3; round++) {
      first.state();
      second.state();
    }
  }

  private static long requests(List<List<Long>> loads) {
    return loads.stream().mapToLong(load -> load.get(2)).sum();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cost", "projected"})
  void routersAvoidWhatOthersHavePlaced(String policy) {
    start(policy, RANKS);
    List<RankId> chosen = new ArrayList<>();
    for (Replica replica : replicas) {
      chosen.add(replica.place(4_000).rank());
      replica.send();
    }
    assertThat(chosen).doesNotHaveDuplicates();
    replicas.forEach(Replica::close);
  }

  @Test
  void allAgreeOnTheLoadsWhateverHappens() {
    start("projected", 3);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int step = 0; step < 600; step++) {
      clockNs.addAndGet(random.nextInt(20_000_000));
      Replica replica = replicas.get(random.nextInt(replicas.size()));
      int what = replica.attempts.isEmpty() ? 0 : random.nextInt(4);
      if (what <= 1) {
        replica.place(1 + random.nextInt(3_000));
      } else {
        int index = random.nextInt(replica.attempts.size());
        long attempt = replica.attempts.get(index);
        if (what == 2) {
          boolean unused = replica.router.onPrefillDone(attempt); // blocks of answers are not told
        } else {
          replica.attempts.remove(index);
          replica.router.onFinished(attempt, random.nextBoolean());
        }
      }
      replica.send();
      List<List<Long>> expected = replicas.get(0).loads();
      assertThat(replicas.get(1).loads()).as("seed %d, step %d", SEED, step).isEqualTo(expected);
      assertThat(replicas.get(2).loads()).as("seed %d, step %d", SEED, step).isEqualTo(expected);
    }
    replicas.forEach(Replica::close);
  }

  @Test
  void theLoadOfARouterThatIsGoneEnds() {
    start("projected", 2);
    Replica first = replicas.get(0);
    Replica gone = replicas.get(1);
    gone.place(4_000);
    gone.send();
    List<List<Long>> loaded = first.loads();
    clockNs.addAndGet(9 * SECOND_NS);
    first.exchange.onFrame(new LoadFrame(2, List.of()).encode());
    clockNs.addAndGet(9 * SECOND_NS);
    assertThat(first.exchange.removeSilent(10 * SECOND_NS)).isZero();
    assertThat(first.loads()).isEqualTo(loaded);
    clockNs.addAndGet(2 * SECOND_NS);
    assertThat(first.exchange.removeSilent(10 * SECOND_NS)).isEqualTo(1);
    assertThat(first.loads()).allSatisfy(load -> assertThat(load).containsOnly(0L));
    assertThat(first.exchange.stats().routers()).isZero();
    replicas.forEach(Replica::close);
  }

  /** Answers that do not stream, and long prompts, give no sign of life for minutes. */
  @ParameterizedTest
  @ValueSource(strings = {"cost", "projected"})
  void aBookingLastsAsLongAsItsRequestIsAlive(String policy) {
    start(policy, 1);
    Replica replica = replicas.get(0);
    long silent = replica.place(4_000).attempt();
    long forgotten = replica.place(4_000).attempt();
    for (int minute = 0; minute < 20; minute++) {
      clockNs.addAndGet(60 * SECOND_NS);
      assertThat(replica.router.onAlive(silent)).isTrue();
      assertThat(requests(replica.loads())).isEqualTo(minute < 4 ? 2 : 1);
    }
    assertThat(replica.router.onAlive(forgotten)).isFalse();
    assertThat(replica.router.onFinished(silent, true)).isTrue();
    assertThat(requests(replica.loads())).isZero();
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cost", "projected"})
  void requestsOfOthersCountAsLongAsTheyAreStated(String policy) {
    start(policy, 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    for (int i = 0; i < 20; i++) {
      first.place(4_000);
    }
    first.send();
    List<List<Long>> loaded = first.loads();
    for (int time = 0; time < 1_000; time++) {
      clockNs.addAndGet(SECOND_NS);
      if (time % 60 == 0) {
        first.attempts.forEach(first.router::onAlive);
      }
      first.state();
      assertThat(second.exchange.removeSilent(3 * SECOND_NS)).isZero();
      assertThat(second.loads()).isEqualTo(loaded);
    }
    assertThat(first.loads()).isEqualTo(loaded);
    assertThat(second.exchange.stats().refused()).isZero();
    replicas.forEach(Replica::close);
  }

  @Test
  void outputBlocksOfOthersStreamsCount() {
    start("cost", Map.of("router_track_output_blocks", true), 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    for (int i = 0; i < 10; i++) {
      first.place(100 + i);
    }
    for (int step = 0; step < 100; step++) {
      for (int i = 0; i < first.attempts.size(); i += 2) {
        first.router.onTokens(first.attempts.get(i), 1 + i);
      }
      first.send();
      first.state();
      assertThat(second.loads()).as("step %d", step).isEqualTo(first.loads());
    }
    assertThat(second.loads().stream().mapToLong(load -> load.get(0)).sum())
        .isGreaterThan(10 * 100 / BLOCK + 5 * 100 / BLOCK);
    replicas.forEach(Replica::close);
  }

  @Test
  void loadsThatWereDroppedDuringAPauseComeBackWithTheNextStatement() {
    start("projected", 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    for (int i = 0; i < 50; i++) {
      first.place(1_000 + i);
    }
    boolean unused = first.router.onPrefillDone(first.attempts.get(7));
    first.send();
    List<List<Long>> loaded = first.loads();
    clockNs.addAndGet(4 * SECOND_NS);
    assertThat(second.exchange.removeSilent(3 * SECOND_NS)).isEqualTo(1);
    assertThat(requests(second.loads())).isZero();
    first.state();
    second.state(); // asks, and the first answers
    assertThat(second.loads()).isEqualTo(loaded);
    replicas.forEach(Replica::close);
  }

  @Test
  void aRouterThatStartsLaterLearnsWhatIsInFlight() {
    start("cost", 1);
    Replica first = replicas.get(0);
    for (int i = 0; i < 5_000; i++) {
      first.place(20);
    }
    first.send();
    Replica second = new Replica("cost", Map.of(), 2);
    replicas.add(second);
    stateThrice(first, second);
    assertThat(second.loads()).isEqualTo(first.loads());
    replicas.forEach(Replica::close);
  }

  /** More blocks than a router reports again between two statements. */
  @Test
  void manyLongPromptsThatWereLostComeBackInAFewStatements() {
    start("cost", 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    for (int i = 0; i < 1_200; i++) {
      first.place(1_000 * BLOCK);
    }
    first.outbox.drainTo(frame -> {}); // lost
    stateThrice(first, second);
    assertThat(requests(second.loads())).isEqualTo(1_200);
    assertThat(second.loads()).isEqualTo(first.loads());
    assertThat(second.exchange.stats().copies()).isZero();
    replicas.forEach(Replica::close);
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgainSoon() {
    start("cost", 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    first.place(400);
    first.exchange.state(second.exchange::onFrame);
    second.exchange.state(first.exchange::onFrame);
    assertThat(first.outbox.drainTo(frame -> {})).as("the answers are lost").isEqualTo(2);
    stateThrice(first, second);
    assertThat(second.loads()).isEqualTo(first.loads());
    replicas.forEach(Replica::close);
  }

  @Test
  void oneAnswerServesAllRoutersThatAsk() {
    start("cost", 6);
    Replica first = replicas.get(0);
    for (int i = 0; i < 50; i++) {
      first.place(400);
    }
    first.outbox.drainTo(frame -> {}); // lost
    first.exchange.state(this::sendToAll);
    replicas.forEach(each -> each.exchange.state(this::sendToAll));
    assertThat(first.outbox.drainTo(this::sendToAll)).isEqualTo(50);
    assertThat(replicas).allSatisfy(each -> assertThat(each.loads()).isEqualTo(first.loads()));
    replicas.forEach(Replica::close);
  }

  @Test
  void placementsThatCannotBeBookedAreAskedForSeldom() {
    start("cost", 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    for (int rank = 0; rank < RANKS; rank++) {
      second.router.removeRank(new RankId(rank, 0));
    }
    first.place(400);
    first.send();
    int answers = 0;
    for (int round = 0; round < 33; round++) {
      first.exchange.state(second.exchange::onFrame);
      second.exchange.state(first.exchange::onFrame);
      answers += first.outbox.drainTo(second.exchange::onFrame);
    }
    assertThat(answers).isBetween(2, 4);
    replicas.forEach(Replica::close);
  }

  @Test
  void statementsRepairWhatLostMessagesLeaveBehind() {
    start("cost", 3);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int step = 0; step < 2_000; step++) {
      clockNs.addAndGet(10_000_000);
      Replica replica = replicas.get(random.nextInt(replicas.size()));
      if (replica.attempts.isEmpty() || random.nextInt(5) < 3) {
        replica.place(1 + random.nextInt(500));
      } else {
        int index = random.nextInt(replica.attempts.size());
        replica.router.onFinished(replica.attempts.remove(index), true);
      }
      if (step % 20 == 0) {
        replicas.forEach(each -> each.stateWithLosses(random));
      }
    }
    for (int round = 0; round < 6; round++) { // what was asked for in vain is asked for again
      replicas.forEach(Replica::state);
    }
    List<List<Long>> expected = replicas.get(0).loads();
    assertThat(requests(expected)).isPositive();
    assertThat(replicas.get(1).loads()).as("seed %d", SEED).isEqualTo(expected);
    assertThat(replicas.get(2).loads()).as("seed %d", SEED).isEqualTo(expected);
    for (Replica replica : replicas) {
      List.copyOf(replica.attempts).forEach(each -> replica.router.onFinished(each, true));
    }
    replicas.forEach(each -> each.exchange.state(this::sendToAll));
    assertThat(replicas).allSatisfy(each -> assertThat(requests(each.loads())).isZero());
    replicas.forEach(Replica::close);
  }

  private void sendToAll(byte[] frame) {
    replicas.forEach(each -> each.exchange.onFrame(frame));
  }

  @Test
  void aLateCopyDoesNotRestoreWhatAStatementHasEnded() {
    start("cost", 2);
    Replica first = replicas.get(0);
    Replica second = replicas.get(1);
    long attempt = first.place(400).attempt();
    List<byte[]> placed = new ArrayList<>();
    first.outbox.drainTo(placed::add);
    placed.forEach(second.exchange::onFrame);
    assertThat(requests(second.loads())).isEqualTo(1);
    first.router.onFinished(attempt, true);
    first.outbox.drainTo(frame -> {}); // the message of its end is lost
    first.state();
    assertThat(requests(second.loads())).isZero();
    placed.forEach(second.exchange::onFrame);
    assertThat(requests(second.loads())).isZero();
    assertThat(second.exchange.stats().copies()).isEqualTo(1);
    replicas.forEach(Replica::close);
  }

  /** Whatever a peer sends, own requests count as before, and the peer's end with it. */
  @Test
  void framesWithoutSenseChangeNothingOfTheOwnLoad() {
    start("projected", 2);
    Replica first = replicas.get(0);
    Replica hostile = replicas.get(1);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 10; i++) {
      first.place(1_000);
    }
    List<List<Long>> own = first.loads();
    for (int step = 0; step < 5_000; step++) {
      hostile.place(1 + random.nextInt(400));
      List<byte[]> frames = new ArrayList<>();
      hostile.outbox.drainTo(frames::add);
      if (step % 10 == 0) {
        hostile.exchange.state(frames::add);
        frames.add(new LoadRequest(2, 1, random.longs(5, 0, 20).toArray()).encode());
      }
      frames.forEach(frame -> deliver(first, changed(frame, random)));
      if (step % 50 == 0) {
        List.copyOf(hostile.attempts).forEach(each -> hostile.router.onFinished(each, true));
        hostile.attempts.clear();
      }
    }
    assertThat(first.place(100)).isNotNull();
    first.router.onFinished(first.attempts.get(10), true);
    clockNs.addAndGet(4 * SECOND_NS);
    assertThat(first.exchange.removeSilent(3 * SECOND_NS)).isPositive();
    assertThat(first.loads()).as("-Dkvasir.test.seed=%d", SEED).isEqualTo(own);
    replicas.forEach(Replica::close);
  }

  /** A frame with some other bytes and the right checksum. */
  private static byte[] changed(byte[] frame, SplittableRandom random) {
    byte[] other = frame.clone();
    for (int i = random.nextInt(3); i > 0; i--) {
      other[5 + random.nextInt(other.length - 5)] = (byte) random.nextInt();
    }
    CRC32C crc = new CRC32C();
    crc.update(other, 0, other.length - 4);
    ByteBuffer.wrap(other)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(other.length - 4, (int) crc.getValue());
    return other;
  }

  private static void deliver(Replica to, byte[] frame) {
    try {
      to.exchange.onFrame(frame);
    } catch (IllegalArgumentException e) { // the only way to refuse a frame
      assertThat(e).hasMessageNotContaining("null");
    }
  }

  @Test
  void aRouterOfTooManyIsRefused() {
    start("cost", 1);
    LoadExchange exchange = replicas.get(0).exchange;
    for (int id = 2; id < 2 + ReplicatedLoads.MAX_ROUTERS; id++) {
      exchange.onFrame(new LoadFrame(id, List.of()).encode());
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> exchange.onFrame(new LoadFrame(-5, List.of()).encode()))
        .withMessageContaining("other routers must be within 0 to 64");
    replicas.forEach(Replica::close);
  }

  @Test
  void policiesThatPredictNoLoadDoNotExchangeIt() {
    FleetRouterSetup setup = new FleetRouterSetup(HashFormat.KVASIR, BLOCK, clockNs::get, Map.of());
    try (FleetRouter router = FleetRouterKind.named("round_robin").create(Map.of(), setup)) {
      assertThat(router.exchangeLoads(1, message -> {})).isNull();
    }
  }
}
