package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Concurrent requests must not all be placed on the rank that was idle when they arrived. */
class HerdingTest {

  private static final int THREADS = 64;
  private static final int RANKS = 8;
  private static final int PROMPT = 40;

  @Test
  void aBurstIsSpreadEvenlyAndTotalsAreExact() {
    RouterFixture fixture = new RouterFixture(BookingOptions.DEFAULT).ranks(RANKS);
    List<Placement> placements = atOnce(fixture);
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < RANKS; i++) {
      assertThat(loads.activeRequests(i)).isEqualTo(THREADS / RANKS);
      assertThat(loads.activeBlocks(i)).isEqualTo(THREADS / RANKS * PROMPT / 4);
      assertThat(loads.activePrefillTokens(i)).isEqualTo(THREADS / RANKS * PROMPT);
    }
    endAtOnce(fixture, placements);
    fixture.isIdle();
  }

  /** The negative control: choosing before earlier placements are recorded leads to herding. */
  @Test
  void choosingOutsideOfTheStepHerds() {
    Lock lock = new ReentrantLock();
    CyclicBarrier allHaveChosen = new CyclicBarrier(THREADS);
    RankSelector costs = new CostSelector(CostOptions.DEFAULT);
    RankSelector leavesTheLock =
        (candidates, request, trace) -> {
          Selection chosen = costs.select(candidates, request, trace);
          if (request.id() >= 0) {
            lock.unlock();
            Await.all(allHaveChosen);
            lock.lock();
          }
          return chosen;
        };
    RouterFixture fixture =
        new RouterFixture(leavesTheLock, BookingOptions.DEFAULT, lock).ranks(RANKS);
    for (int busy = 1; busy < RANKS; busy++) {
      fixture.placed(request(-busy, PROMPT).filter(RankFilter.pin(rank(busy))));
    }
    atOnce(fixture);
    assertThat(fixture.loads().activeRequests(0)).isEqualTo(THREADS);
  }

  @Test
  void manyRoundsLeaveNothingBehind() {
    RouterFixture fixture =
        new RouterFixture(RouterFixture.queue(QueueOptions.of(0.5, QueuePolicy.FCFS))).ranks(RANKS);
    int rounds = 50;
    List<Future<?>> threads = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      for (int thread = 0; thread < THREADS; thread++) {
        long base = thread * 1_000L;
        threads.add(
            executor.submit(
                () -> {
                  for (int round = 0; round < rounds; round++) {
                    RouteOutcome outcome =
                        fixture.router.route(request(base + round, PROMPT).build());
                    if (outcome instanceof RouteOutcome.Waiting waiting) {
                      outcome = Await.result("a placement", waiting.outcome());
                    }
                    long attempt = RouterFixture.placement(outcome).attempt();
                    assertThat(fixture.router.onTokens(attempt, 5)).isTrue();
                    assertThat(fixture.router.onFinished(attempt, true)).isTrue();
                  }
                  return null;
                }));
      }
      for (Future<?> thread : threads) {
        Await.result("all rounds of a thread", thread);
      }
    } finally {
      executor.shutdownNow();
    }
    fixture.isIdle();
  }

  private static List<Placement> atOnce(RouterFixture fixture) {
    CyclicBarrier start = new CyclicBarrier(THREADS);
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Placement>> futures = new ArrayList<>();
      for (int id = 0; id < THREADS; id++) {
        FleetRequestBuilder request = request(id, PROMPT);
        futures.add(
            executor.submit(
                () -> {
                  Await.all(start);
                  return fixture.placed(request);
                }));
      }
      List<Placement> placements = new ArrayList<>();
      for (Future<Placement> future : futures) {
        placements.add(Await.result("a placement", future));
      }
      return placements;
    } finally {
      executor.shutdownNow();
    }
  }

  private static void endAtOnce(RouterFixture fixture, List<Placement> placements) {
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Boolean>> ends = new ArrayList<>();
      for (Placement placement : placements) {
        ends.add(executor.submit(() -> fixture.router.onFinished(placement.attempt(), true)));
      }
      for (Future<Boolean> end : ends) {
        assertThat(Await.result("an end", end)).isTrue();
      }
    } finally {
      executor.shutdownNow();
    }
  }
}
