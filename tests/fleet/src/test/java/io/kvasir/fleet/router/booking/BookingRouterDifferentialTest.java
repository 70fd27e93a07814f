package io.kvasir.fleet.router.booking;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Random histories follow the rules: every request completes once, with the same outcome and in the
 * same order; all loads are equal; nothing remains at the end.
 */
class BookingRouterDifferentialTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20);
  private static final int RUNS = LongRuns.cases(30, 1_000);
  private static final int STEPS = 300;

  @Test
  void agreesWithTheRules() {
    Set<String> kinds = new TreeSet<>();
    for (long seed = SEED; seed < SEED + RUNS; seed++) {
      Run run = new Run(seed);
      run.play();
      run.settled.forEach(outcome -> kinds.add(outcome.split(" ", 4)[1]));
    }
    kinds.removeIf(kind -> kind.contains("/"));
    assertThat(kinds)
        .as("-Dkvasir.test.seed=%d: ends that occurred, placements aside", SEED)
        .containsExactlyInAnyOrderElementsOf(everyEndButFailure());
  }

  private static Set<String> everyEndButFailure() {
    Set<String> ends = new TreeSet<>(Set.of("cancelled"));
    for (Refusal refusal : Refusal.values()) {
      ends.add(refusal.name());
    }
    ends.remove(Refusal.SELECTOR_FAILED.name());
    ends.remove(Refusal.UNSUPPORTED_REQUEST.name());
    ends.remove(Refusal.TARGETS_UNREACHABLE.name());
    return ends;
  }

  private static final class Run {
    private static final int TOKENS_PER_BLOCK = 4;

    final SplittableRandom random;
    final String at;
    final GivenIndex index = new GivenIndex();
    final long[] clockNs = {0};
    final BookingRouter router;
    final NaiveRouter naive;
    final List<String> settled = new ArrayList<>();
    final Map<Long, Long> attempts = new TreeMap<>();
    final Map<Long, RankId> rankOf = new HashMap<>();
    final Map<Long, CompletableFuture<RouteOutcome>> waiting = new HashMap<>();
    long nextId;
    int submitted;

    Run(long seed) {
      random = new SplittableRandom(seed);
      at = "-Dkvasir.test.seed=" + seed;
      CostOptions costs =
          new CostOptions(
              random.nextInt(3) / 2.0,
              random.nextInt(2),
              random.nextInt(3),
              random.nextInt(2),
              random.nextInt(3) / 2.0,
              random.nextInt(4) != 0);
      QueueOptions queue =
          new QueueOptions(
              random.nextInt(4) == 0 ? null : random.nextInt(3) / 2.0,
              random.nextBoolean() ? QueuePolicy.FCFS : QueuePolicy.WSPT,
              1 + random.nextInt(20),
              1 + random.nextInt(500),
              random.nextInt(3) * 10L);
      RankSelector selector = new CostSelector(costs);
      router =
          new BookingRouter(
              "cost",
              index,
              selector,
              BookingOptions.DEFAULT
                  .withLoads(ActiveSequencesOptions.DEFAULT.withStaleAfterNs(Long.MAX_VALUE))
                  .withQueue(queue)
                  .withExplain(random.nextBoolean()),
              RouterFixture.setup(() -> clockNs[0]));
      naive = new NaiveRouter(TOKENS_PER_BLOCK, selector, queue);
    }

    void play() {
      for (int i = 0; i < 3; i++) {
        addRank();
      }
      for (int step = 0; step < STEPS; step++) {
        advance();
        step();
        compare(step);
      }
      while (!attempts.isEmpty() || !waiting.isEmpty()) {
        drain();
        compare(STEPS);
      }
      assertThat(settled).as(at).hasSize(submitted);
      naive.loads().values().forEach(load -> assertThat(load.requests()).as(at).isZero());
    }

    private void advance() {
      clockNs[0] += random.nextInt(8);
      naive.nowNs = clockNs[0];
    }

    private void step() {
      switch (random.nextInt(16)) {
        case 0 -> addRank();
        case 1 -> removeRank();
        case 2 -> setThresholds();
        case 3 -> hold();
        case 4, 5 -> cancel();
        case 6, 7 -> prefillDone();
        case 8, 9, 10 -> free();
        default -> submit();
      }
    }

    private RankId anyRank() {
      return new RankId(random.nextInt(3), random.nextInt(2));
    }

    private void addRank() {
      RankId rank = anyRank();
      RankCapacity capacity = new RankCapacity(random.nextInt(3) * 10L, random.nextInt(3) * 20L);
      router.addRank(rank, capacity);
      naive.addRank(rank, capacity);
    }

    private void removeRank() {
      RankId rank = anyRank();
      attempts.keySet().removeIf(id -> rankOf.get(id).equals(rank));
      router.removeRank(rank);
      naive.removeRank(rank);
    }

    private void setThresholds() {
      BusyThresholds thresholds =
          new BusyThresholds(
              random.nextBoolean() ? null : random.nextInt(5) / 4.0,
              random.nextBoolean() ? null : (Long) (long) random.nextInt(100),
              random.nextBoolean() ? null : random.nextInt(5) / 2.0);
      thresholds = random.nextInt(3) == 0 ? thresholds : BusyThresholds.NONE;
      router.setBusyThresholds(thresholds);
      naive.setBusyThresholds(thresholds);
    }

    private void hold() {
      RankId rank = anyRank();
      int blocks = random.nextInt(6);
      index.hold(rank, blocks);
      naive.held.put(rank, blocks);
    }

    private void cancel() {
      long id = nextId == 0 ? 0 : random.nextLong(nextId);
      if (waiting.containsKey(id)) {
        waiting.get(id).cancel(false);
        naive.cancel(id);
      }
    }

    private void prefillDone() {
      if (!attempts.isEmpty()) {
        long id = anyAttempt();
        boolean push = random.nextBoolean();
        boolean known =
            push ? router.onTokens(attempts.get(id), 3) : router.onPrefillDone(attempts.get(id));
        assertThat(known).as(at).isEqualTo(true);
        naive.onPrefillDone(id);
      }
    }

    private void free() {
      if (!attempts.isEmpty()) {
        long id = anyAttempt();
        long attempt = attempts.remove(id);
        assertThat(router.onFinished(attempt, true)).as(at).isTrue();
        naive.onFinished(id);
        assertThat(router.onFinished(attempt, true)).as(at).isFalse();
      }
    }

    private long anyAttempt() {
      return new ArrayList<>(attempts.keySet()).get(random.nextInt(attempts.size()));
    }

    private void submit() {
      FleetRequest request = request();
      long id = request.id();
      submitted++;
      RouteOutcome outcome = router.route(request);
      if (outcome instanceof RouteOutcome.Waiting wait) {
        waiting.put(id, wait.outcome());
        var unused = wait.outcome().whenComplete((later, failure) -> settle(id, later));
      } else {
        settle(id, outcome);
      }
      naive.route(request);
    }

    private void settle(long id, RouteOutcome outcome) {
      if (outcome instanceof RouteOutcome.Placed dispatched) {
        Placement placement = dispatched.placement();
        attempts.put(id, placement.attempt());
        rankOf.put(id, placement.rank());
        settled.add(
            id
                + " "
                + placement.rank()
                + " "
                + placement.matchedBlocks()
                + " "
                + placement.waitedNs());
      } else if (outcome instanceof RouteOutcome.Refused refused) {
        settled.add(id + " " + refused.refusal());
        if (refused.refusal() == Refusal.DUPLICATE_REQUEST) {
          return; // the other one of this id may still wait
        }
      } else {
        settled.add(id + " cancelled");
      }
      waiting.remove(id);
    }

    private FleetRequest request() {
      int inputTokens = random.nextInt(40);
      int blocks = random.nextInt(4) == 0 ? 0 : inputTokens / TOKENS_PER_BLOCK;
      long[] hashes = new long[blocks];
      long family = random.nextInt(4);
      for (int i = 0; i < blocks; i++) {
        hashes[i] = family * 100 + i;
      }
      long id = nextId > 0 && random.nextInt(10) == 0 ? random.nextLong(nextId) : nextId++;
      return RouterFixture.request(id, inputTokens, hashes)
          .filter(filter())
          .overrides(
              new CostOverrides(
                  random.nextBoolean() ? null : 0.5,
                  null,
                  random.nextBoolean() ? null : 0.0,
                  random.nextInt(4) == 0 ? false : null,
                  random.nextInt(4) == 0 ? false : null))
          .strictPriority(random.nextInt(2))
          .priorityJump(random.nextInt(3) * 1e-8)
          .build();
    }

    private RankFilter filter() {
      return switch (random.nextInt(8)) {
        case 0 -> RankFilter.allow(random.nextInt(3), random.nextInt(3));
        case 1 -> RankFilter.exclude(Set.of(anyRank()));
        case 2 -> RankFilter.pin(anyRank());
        case 3 -> RankFilter.pinWorker(random.nextInt(3));
        case 4 -> new RankFilter(null, Set.of(anyRank()), (long) random.nextInt(3), null);
        default -> RankFilter.ANY;
      };
    }

    private void drain() {
      advance();
      if (random.nextInt(4) == 0) {
        waiting.keySet().stream()
            .sorted()
            .findFirst()
            .ifPresent(
                id -> {
                  waiting.get(id).cancel(false);
                  naive.cancel(id);
                });
      }
      free();
    }

    private void compare(int step) {
      String where = at + " step " + step;
      assertThat(settled).as(where).isEqualTo(naive.settled);
      assertThat(router.queueDepth()).as(where).isEqualTo(naive.depth());
      PredictedLoads loads = new PredictedLoads();
      router.loads(loads);
      Map<RankId, NaiveRouter.Load> actual = new TreeMap<>();
      for (int i = 0; i < loads.size(); i++) {
        actual.put(
            loads.rank(i),
            new NaiveRouter.Load(
                loads.activePrefillTokens(i),
                (int) loads.activeBlocks(i),
                loads.activeRequests(i)));
      }
      assertThat(actual).as(where).isEqualTo(naive.loads());
    }
  }
}
