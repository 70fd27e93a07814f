package io.kvasir.fleet.router.cost;

import static io.kvasir.fleet.router.cost.SchedulerFixture.decision;
import static io.kvasir.fleet.router.cost.SchedulerFixture.rank;
import static io.kvasir.fleet.router.cost.SchedulerFixture.refusal;
import static io.kvasir.fleet.router.cost.SchedulerFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Requests that wait because every rank has too much prefill. Ranks batch 100 tokens. */
class WaitingTest {

  private static final QueueOptions FCFS = QueueOptions.of(1.0, QueuePolicy.FCFS);

  private final List<Long> order = new ArrayList<>();

  private static SchedulerFixture fixture(QueueOptions options) {
    return new SchedulerFixture(SchedulerFixture.queue(options)).ranks(2);
  }

  /** Gives both ranks more than they batch; returns the attempts, by rank. */
  private static long[] fill(SchedulerFixture fixture) {
    long[] attempts = new long[2];
    for (int i = 0; i < 2; i++) {
      attempts[i] =
          fixture.dispatched(request(1_000 + i, 101).filter(RankFilter.pin(rank(i)))).attempt();
    }
    return attempts;
  }

  private CompletableFuture<SelectionOutcome> waits(
      SchedulerFixture fixture, SelectionRequest.Builder builder) {
    SelectionRequest request = builder.build();
    CompletableFuture<SelectionOutcome> future = fixture.scheduler.submit(request);
    assertThat(future).isNotDone();
    var unused = future.thenAccept(outcome -> order.add(request.requestId()));
    return future;
  }

  private void joins(SchedulerFixture fixture, SelectionRequest.Builder builder) {
    assertThat(waits(fixture, builder)).isNotDone();
  }

  @Test
  void nobodyWaitsUnlessTold() {
    SchedulerFixture fixture = fixture(QueueOptions.OFF);
    for (int id = 0; id < 50; id++) {
      fixture.dispatched(request(id, 101));
    }
  }

  @Test
  void requestsWaitWhileEveryRankIsFull() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 40));
    assertThat(fixture.scheduler.queueDepth()).isEqualTo(new QueueDepth(1, 40));
    fixture.clockNs.addAndGet(250);
    fixture.scheduler.prefillDone(attempts[1]);
    CostDecision decision = decision(future.join());
    assertThat(decision.waitedNs()).isEqualTo(250);
    assertThat(fixture.scheduler.queueDepth()).isEqualTo(new QueueDepth(0, 0));
  }

  @Test
  void roomComesWithEveryKindOfEnd() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var first = waits(fixture, request(1, 101));
    fixture.scheduler.push(attempts[0], 1);
    assertThat(first).isCompleted();
    var second = waits(fixture, request(2, 101));
    fixture.scheduler.free(attempts[1]);
    assertThat(second).isCompleted();
    var third = waits(fixture, request(3, 101));
    fixture.scheduler.setRank(rank(2), new RankCapacity(0, 100));
    assertThat(decision(third.join()).rank()).isEqualTo(rank(2));
    var fourth = waits(fixture, request(4, 101));
    fixture.scheduler.setRank(rank(2), new RankCapacity(0, 200));
    assertThat(fourth).isCompleted();
    fixture.scheduler.setRank(rank(2), new RankCapacity(0, 100));
    joins(fixture, request(5, 101));
    fixture.clockNs.addAndGet(2 * KvSchedulerOptions.DEFAULT.loads().staleAfterNs());
    fixture.scheduler.expireStale();
    assertThat(order).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void firstComeIsFirstServedUnlessPutForward() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    joins(fixture, request(1, 101));
    fixture.clockNs.addAndGet(1_000_000_000L);
    joins(fixture, request(2, 101));
    joins(fixture, request(3, 101).priorityJump(0.5));
    joins(fixture, request(4, 101).priorityJump(1.5));
    joins(fixture, request(5, 101).strictPriority(1));
    fixture.scheduler.free(attempts[0]);
    endEach(fixture);
    assertThat(order).containsExactly(5L, 4L, 1L, 3L, 2L);
  }

  @Test
  void weightedShortestGoesFirstAndWhatIsCachedCostsNothing() {
    SchedulerFixture fixture = fixture(QueueOptions.of(1.0, QueuePolicy.WSPT));
    fixture.index.hold(rank(0), 0);
    long[] attempts = fill(fixture);
    joins(fixture, request(1, 200));
    joins(fixture, request(2, 120));
    joins(fixture, request(3, 300).priorityJump(2));
    fixture.index.hold(rank(0), 100);
    joins(fixture, request(4, 401));
    fixture.index.hold(rank(0), 0);
    fixture.scheduler.free(attempts[0]);
    endEach(fixture);
    assertThat(order).containsExactly(4L, 3L, 2L, 1L);
  }

  /** Ends, again and again, all requests that have been dispatched. */
  private void endEach(SchedulerFixture fixture) {
    for (int ended = 0; ended < order.size(); ended++) {
      long id = order.get(ended);
      fixture.scheduler.free(
          fixture.scheduler.<Long>withLoads(sequences -> sequences.attemptOf(id)));
    }
  }

  @Test
  void theLineIsBoundedInRequests() {
    SchedulerFixture fixture = fixture(new QueueOptions(1.0, QueuePolicy.FCFS, 2, 1_000, 0));
    fill(fixture);
    joins(fixture, request(1, 8));
    joins(fixture, request(2, 8));
    assertThat(fixture.refused(request(3, 8))).isEqualTo(Refusal.REQUEST_LIMIT);
    fixture.scheduler.cancel(1);
    joins(fixture, request(3, 8));
  }

  @Test
  void theRequestThatCrossesTheTokenLimitIsTakenTheNextIsNot() {
    SchedulerFixture fixture = fixture(new QueueOptions(1.0, QueuePolicy.FCFS, 9, 10, 0));
    fill(fixture);
    joins(fixture, request(1, 8));
    joins(fixture, request(2, 80));
    assertThat(fixture.refused(request(3, 1))).isEqualTo(Refusal.RAW_ISL_TOKEN_LIMIT);
  }

  @Test
  void whoIsCancelledLeaves() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var first = waits(fixture, request(1, 8));
    var second = waits(fixture, request(2, 8));
    assertThat(fixture.scheduler.cancel(1)).isTrue();
    assertThat(fixture.scheduler.cancel(1)).isFalse();
    assertThat(first.join()).isInstanceOf(SelectionOutcome.Cancelled.class);
    assertThat(second.cancel(false)).isTrue();
    assertThat(fixture.scheduler.queueDepth()).isEqualTo(new QueueDepth(0, 0));
    fixture.scheduler.free(attempts[0]);
    fixture.scheduler.free(attempts[1]);
    fixture.isIdle();
  }

  @Test
  void noTwoRequestsOfOneIdWait() {
    SchedulerFixture fixture = fixture(FCFS);
    fill(fixture);
    joins(fixture, request(1, 8));
    assertThat(fixture.refused(request(1, 8))).isEqualTo(Refusal.DUPLICATE_REQUEST);
  }

  @Test
  void aRequestForOneFullRankDoesNotHoldUpOthers() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var pinned = waits(fixture, request(1, 8).filter(RankFilter.pin(rank(0))));
    var any = waits(fixture, request(2, 8));
    fixture.scheduler.prefillDone(attempts[1]);
    assertThat(decision(any.join()).rank()).isEqualTo(rank(1));
    assertThat(pinned).isNotDone();
    fixture.scheduler.prefillDone(attempts[0]);
    assertThat(decision(pinned.join()).why()).isEqualTo(CostDecision.Why.PINNED);
  }

  @Test
  void whoWaitsForARankThatGoesIsRefused() {
    SchedulerFixture fixture = fixture(FCFS);
    fill(fixture);
    var pinned = waits(fixture, request(1, 8).filter(RankFilter.pin(rank(0))));
    var excluding = waits(fixture, request(2, 8).filter(RankFilter.exclude(Set.of(rank(1)))));
    var any = waits(fixture, request(3, 8));
    fixture.scheduler.removeRank(rank(0));
    assertThat(refusal(pinned.join())).isEqualTo(Refusal.PINNED_UNKNOWN);
    assertThat(refusal(excluding.join())).isEqualTo(Refusal.NO_ENDPOINT);
    assertThat(any).isNotDone();
    fixture.scheduler.removeRank(rank(1));
    assertThat(refusal(any.join())).isEqualTo(Refusal.NO_ENDPOINT);
    fixture.isIdle();
  }

  @Test
  void anOverloadedRankIsNoRoom() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 8));
    fixture.scheduler.setBusyThresholds(new BusyThresholds(0.02, null, null));
    fixture.scheduler.prefillDone(attempts[0]);
    assertThat(future).isNotDone();
    assertThat(fixture.refused(request(2, 8))).isEqualTo(Refusal.ALL_OVERLOADED);
    fixture.scheduler.setBusyThresholds(BusyThresholds.NONE);
    assertThat(future).isCompleted();
  }

  @Test
  void theRankIsChosenByWhatIsHeldAfterALongWait() {
    SchedulerFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    fixture.index.hold(rank(0), 1);
    var brief = waits(fixture, request(1, 16));
    int matches = fixture.index.matches();
    fixture.clockNs.addAndGet(10_000_000_000L);
    fixture.index.hold(rank(0), 3);
    fixture.scheduler.prefillDone(attempts[0]);
    assertThat(decision(brief.join()).overlapBlocks()).isEqualTo(1);
    assertThat(fixture.index.matches()).isEqualTo(matches);
    fixture.dispatched(request(1_002, 101).filter(RankFilter.pin(rank(0))));
    var lasting = waits(fixture, request(2, 16));
    fixture.clockNs.addAndGet(10_000_000_001L);
    fixture.index.hold(rank(0), 2);
    fixture.index.hold(rank(1), 4);
    fixture.scheduler.prefillDone(attempts[1]);
    assertThat(decision(lasting.join()).overlapBlocks()).isEqualTo(4);
    assertThat(fixture.index.matches()).isEqualTo(matches + 3);
  }

  @Test
  void aSelectorThatFailsLosesNobody() {
    WorkerSelector failing =
        (candidates, request, trace) -> {
          throw new IllegalStateException("expected by a test");
        };
    SchedulerFixture fixture =
        new SchedulerFixture(failing, SchedulerFixture.queue(FCFS), new ReentrantLock()).ranks(2);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 8));
    assertThat(fixture.scheduler.prefillDone(attempts[0])).isTrue();
    assertThat(refusal(future.join())).isEqualTo(Refusal.SELECTOR_FAILED);
    fixture.scheduler.free(attempts[0]);
    fixture.scheduler.free(attempts[1]);
    fixture.isIdle();
  }

  @Test
  void whoIsCancelledAtItsDispatchIsRolledBack() {
    List<CompletableFuture<SelectionOutcome>> cancelled = new ArrayList<>();
    WorkerSelector cancelling =
        (candidates, request, trace) -> {
          cancelled.forEach(future -> future.cancel(false));
          return 0;
        };
    SchedulerFixture fixture =
        new SchedulerFixture(cancelling, SchedulerFixture.queue(FCFS), new ReentrantLock())
            .ranks(2);
    long[] attempts = fill(fixture);
    cancelled.add(waits(fixture, request(1, 101)));
    var next = waits(fixture, request(2, 8).filter(RankFilter.pin(rank(0))));
    fixture.scheduler.free(attempts[0]);
    fixture.scheduler.free(attempts[1]);
    assertThat(cancelled.get(0)).isCancelled();
    assertThat(fixture.hitRates).extracting(HitRateEvent::requestId).doesNotContain(1L);
    fixture.scheduler.free(decision(next.join()).attempt());
    fixture.isIdle();
  }
}
