package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterReplicas.BLOCK;
import static io.kvasir.fleet.router.booking.RouterReplicas.RANKS;
import static io.kvasir.fleet.router.booking.RouterReplicas.requests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadFrame;
import io.kvasir.fleet.load.LoadRequest;
import io.kvasir.fleet.load.ReplicatedLoads;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.booking.RouterReplicas.Replica;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several routers in front of the same ranks, which tell each other what they place. */
class LoadExchangeTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 16);
  private static final long SECOND_NS = 1_000_000_000L;

  private final RouterReplicas all = new RouterReplicas();

  @ParameterizedTest
  @ValueSource(strings = {"cost", "projected"})
  void routersAvoidWhatOthersHavePlaced(String policy) {
    all.start(policy, RANKS);
    List<RankId> chosen = new ArrayList<>();
    for (Replica replica : all.replicas) {
      chosen.add(replica.place(4_000).rank());
      replica.send();
    }
    assertThat(chosen).doesNotHaveDuplicates();
    all.replicas.forEach(Replica::close);
  }

  @Test
  void allAgreeOnTheLoadsWhateverHappens() {
    all.start("projected", 3);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int step = 0; step < 600; step++) {
      all.clockNs.addAndGet(random.nextInt(20_000_000));
      Replica replica = all.replicas.get(random.nextInt(all.replicas.size()));
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
      List<List<Long>> expected = all.replicas.get(0).loads();
      assertThat(all.replicas.get(1).loads())
          .as("seed %d, step %d", SEED, step)
          .isEqualTo(expected);
      assertThat(all.replicas.get(2).loads())
          .as("seed %d, step %d", SEED, step)
          .isEqualTo(expected);
    }
    all.replicas.forEach(Replica::close);
  }

  @Test
  void theLoadOfARouterThatIsGoneEnds() {
    all.start("projected", 2);
    Replica first = all.replicas.get(0);
    Replica gone = all.replicas.get(1);
    gone.place(4_000);
    gone.send();
    List<List<Long>> loaded = first.loads();
    all.clockNs.addAndGet(9 * SECOND_NS);
    first.exchange.onFrame(new LoadFrame(2, List.of()).encode());
    all.clockNs.addAndGet(9 * SECOND_NS);
    assertThat(first.exchange.removeSilent(10 * SECOND_NS)).isZero();
    assertThat(first.loads()).isEqualTo(loaded);
    all.clockNs.addAndGet(2 * SECOND_NS);
    assertThat(first.exchange.removeSilent(10 * SECOND_NS)).isEqualTo(1);
    assertThat(first.loads()).allSatisfy(load -> assertThat(load).containsOnly(0L));
    assertThat(first.exchange.stats().routers()).isZero();
    all.replicas.forEach(Replica::close);
  }

  /** Answers that do not stream, and long prompts, give no sign of life for minutes. */
  @ParameterizedTest
  @ValueSource(strings = {"cost", "projected"})
  void aBookingLastsAsLongAsItsRequestIsAlive(String policy) {
    all.start(policy, 1);
    Replica replica = all.replicas.get(0);
    long silent = replica.place(4_000).attempt();
    long forgotten = replica.place(4_000).attempt();
    for (int minute = 0; minute < 20; minute++) {
      all.clockNs.addAndGet(60 * SECOND_NS);
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
    all.start(policy, 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
    for (int i = 0; i < 20; i++) {
      first.place(4_000);
    }
    first.send();
    List<List<Long>> loaded = first.loads();
    for (int time = 0; time < 1_000; time++) {
      all.clockNs.addAndGet(SECOND_NS);
      if (time % 60 == 0) {
        first.attempts.forEach(first.router::onAlive);
      }
      first.state();
      assertThat(second.exchange.removeSilent(3 * SECOND_NS)).isZero();
      assertThat(second.loads()).isEqualTo(loaded);
    }
    assertThat(first.loads()).isEqualTo(loaded);
    assertThat(second.exchange.stats().refused()).isZero();
    all.replicas.forEach(Replica::close);
  }

  @Test
  void outputBlocksOfOthersStreamsCount() {
    all.start("cost", Map.of("router_track_output_blocks", true), 2);
    Replica first = all.replicas.get(0);
    Replica second = all.replicas.get(1);
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
    all.replicas.forEach(Replica::close);
  }

  /** Whatever a peer sends, own requests count as before, and the peer's end with it. */
  @Test
  void framesWithoutSenseChangeNothingOfTheOwnLoad() {
    all.start("projected", 2);
    Replica first = all.replicas.get(0);
    Replica hostile = all.replicas.get(1);
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
    all.clockNs.addAndGet(4 * SECOND_NS);
    assertThat(first.exchange.removeSilent(3 * SECOND_NS)).isPositive();
    assertThat(first.loads()).as("-Dkvasir.test.seed=%d", SEED).isEqualTo(own);
    all.replicas.forEach(Replica::close);
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
    all.start("cost", 1);
    LoadExchange exchange = all.replicas.get(0).exchange;
    for (int id = 2; id < 2 + ReplicatedLoads.MAX_ROUTERS; id++) {
      exchange.onFrame(new LoadFrame(id, List.of()).encode());
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> exchange.onFrame(new LoadFrame(-5, List.of()).encode()))
        .withMessageContaining("other routers must be within 0 to 64");
    all.replicas.forEach(Replica::close);
  }

  @Test
  void policiesThatPredictNoLoadDoNotExchangeIt() {
    FleetRouterSetup setup =
        new FleetRouterSetup(HashFormat.KVASIR, BLOCK, all.clockNs::get, Map.of());
    try (FleetRouter router = FleetRouterKind.named("round_robin").create(Map.of(), setup)) {
      assertThat(router.exchangeLoads(1, message -> {})).isNull();
    }
  }
}
