package io.kvasir.fleet.router.cost;

import static io.kvasir.fleet.router.cost.SchedulerFixture.rank;
import static io.kvasir.fleet.router.cost.SchedulerFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.RankFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many threads that ask at once must not all get the rank that was idle when they came. */
@Timeout(60)
class HerdingTest {

  private static final int THREADS = 64;
  private static final int RANKS = 8;
  private static final int PROMPT = 40;

  @Test
  void aBurstIsSpreadEvenlyAndTotalsAreExact() throws Exception {
    SchedulerFixture fixture = new SchedulerFixture(KvSchedulerOptions.DEFAULT).ranks(RANKS);
    List<CostDecision> decisions = atOnce(fixture);
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < RANKS; i++) {
      assertThat(loads.activeRequests(i)).isEqualTo(THREADS / RANKS);
      assertThat(loads.activeBlocks(i)).isEqualTo(THREADS / RANKS * PROMPT / 4);
      assertThat(loads.activePrefillTokens(i)).isEqualTo(THREADS / RANKS * PROMPT);
    }
    endAtOnce(fixture, decisions);
    fixture.isIdle();
  }

  /** The negative control: whoever reads and chooses before others have booked follows the herd. */
  @Test
  void choosingOutsideOfTheStepHerds() throws Exception {
    Lock lock = new ReentrantLock();
    CyclicBarrier allHaveChosen = new CyclicBarrier(THREADS);
    WorkerSelector costs = new CostSelector(CostOptions.DEFAULT);
    WorkerSelector leavesTheLock =
        (candidates, request, trace) -> {
          int chosen = costs.select(candidates, request, trace);
          if (request.requestId() >= 0) {
            lock.unlock();
            await(allHaveChosen);
            lock.lock();
          }
          return chosen;
        };
    SchedulerFixture fixture =
        new SchedulerFixture(leavesTheLock, KvSchedulerOptions.DEFAULT, lock).ranks(RANKS);
    for (int busy = 1; busy < RANKS; busy++) {
      fixture.dispatched(request(-busy, PROMPT).filter(RankFilter.pin(rank(busy))));
    }
    atOnce(fixture);
    assertThat(fixture.loads().activeRequests(0)).isEqualTo(THREADS);
  }

  @Test
  void manyRoundsLeaveNothingBehind() throws Exception {
    SchedulerFixture fixture =
        new SchedulerFixture(SchedulerFixture.queue(QueueOptions.of(0.5, QueuePolicy.FCFS)))
            .ranks(RANKS);
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
                    var outcome = fixture.scheduler.submit(request(base + round, PROMPT).build());
                    long attempt = SchedulerFixture.decision(outcome.get()).attempt();
                    assertThat(fixture.scheduler.push(attempt, 5)).isTrue();
                    assertThat(fixture.scheduler.free(attempt)).isTrue();
                  }
                  return null;
                }));
      }
      for (Future<?> thread : threads) {
        thread.get(30, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(fixture.hitRates).hasSize(THREADS * rounds);
    fixture.isIdle();
  }

  private static List<CostDecision> atOnce(SchedulerFixture fixture) throws Exception {
    CyclicBarrier start = new CyclicBarrier(THREADS);
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<CostDecision>> futures = new ArrayList<>();
      for (int id = 0; id < THREADS; id++) {
        SelectionRequest.Builder request = request(id, PROMPT);
        futures.add(
            executor.submit(
                () -> {
                  await(start);
                  return fixture.dispatched(request);
                }));
      }
      List<CostDecision> decisions = new ArrayList<>();
      for (Future<CostDecision> future : futures) {
        decisions.add(future.get(30, TimeUnit.SECONDS));
      }
      return decisions;
    } finally {
      executor.shutdownNow();
    }
  }

  private static void endAtOnce(SchedulerFixture fixture, List<CostDecision> decisions)
      throws InterruptedException, ExecutionException {
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Boolean>> ends = new ArrayList<>();
      for (CostDecision decision : decisions) {
        ends.add(executor.submit(() -> fixture.scheduler.free(decision.attempt())));
      }
      for (Future<Boolean> end : ends) {
        assertThat(end.get()).isTrue();
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
