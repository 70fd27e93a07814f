package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadFrame;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.ReplicaOutbox;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
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

    Replica(String policy, long id) {
      router =
          FleetRouterKind.named(policy)
              .create(
                  Map.of(), new FleetRouterSetup(HashFormat.KVASIR, BLOCK, clockNs::get, Map.of()));
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
    for (int i = 0; i < count; i++) {
      replicas.add(new Replica(policy, i + 1));
    }
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

  @Test
  void policiesThatPredictNoLoadDoNotExchangeIt() {
    FleetRouterSetup setup = new FleetRouterSetup(HashFormat.KVASIR, BLOCK, clockNs::get, Map.of());
    try (FleetRouter router = FleetRouterKind.named("round_robin").create(Map.of(), setup)) {
      assertThat(router.exchangeLoads(1, message -> {})).isNull();
    }
  }
}
