package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterFixture.placement;
import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static io.kvasir.fleet.router.booking.RouterFixture.refusal;
import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
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

  private static RouterFixture fixture(QueueOptions options) {
    return new RouterFixture(RouterFixture.queue(options)).ranks(2);
  }

  /** Loads both ranks above their batch limit; returns the attempts, by rank. */
  private static long[] fill(RouterFixture fixture) {
    long[] attempts = new long[2];
    for (int i = 0; i < 2; i++) {
      attempts[i] =
          fixture.placed(request(1_000 + i, 101).filter(RankFilter.pin(rank(i)))).attempt();
    }
    return attempts;
  }

  private CompletableFuture<RouteOutcome> waits(
      RouterFixture fixture, FleetRequestBuilder builder) {
    FleetRequest request = builder.build();
    RouteOutcome outcome = fixture.router.route(request);
    assertThat(outcome).isInstanceOf(RouteOutcome.Waiting.class);
    CompletableFuture<RouteOutcome> future = ((RouteOutcome.Waiting) outcome).outcome();
    assertThat(future).isNotDone();
    var unused = future.thenAccept(ignored -> order.add(request.id()));
    return future;
  }

  private void joins(RouterFixture fixture, FleetRequestBuilder builder) {
    assertThat(waits(fixture, builder)).isNotDone();
  }

  @Test
  void noRequestWaitsWithoutAThreshold() {
    RouterFixture fixture = fixture(QueueOptions.OFF);
    for (int id = 0; id < 50; id++) {
      fixture.placed(request(id, 101));
    }
  }

  @Test
  void requestsWaitWhileEveryRankIsFull() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 40));
    assertThat(fixture.router.queueDepth()).isEqualTo(new QueueDepth(1, 40));
    fixture.clockNs.addAndGet(250);
    fixture.router.onPrefillDone(attempts[1]);
    Placement placement = placement(future.join());
    assertThat(placement.waitedNs()).isEqualTo(250);
    assertThat(fixture.router.queueDepth()).isEqualTo(new QueueDepth(0, 0));
  }

  @Test
  void everyKindOfEndMakesRoom() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var first = waits(fixture, request(1, 101));
    fixture.router.onTokens(attempts[0], 1);
    assertThat(first).isCompleted();
    var second = waits(fixture, request(2, 101));
    fixture.router.onFinished(attempts[1], true);
    assertThat(second).isCompleted();
    var third = waits(fixture, request(3, 101));
    fixture.router.addRank(rank(2), new RankCapacity(0, 100));
    assertThat(placement(third.join()).rank()).isEqualTo(rank(2));
    var fourth = waits(fixture, request(4, 101));
    fixture.router.addRank(rank(2), new RankCapacity(0, 200));
    assertThat(fourth).isCompleted();
    fixture.router.addRank(rank(2), new RankCapacity(0, 100));
    joins(fixture, request(5, 101));
    fixture.clockNs.addAndGet(2 * BookingOptions.DEFAULT.loads().staleAfterNs());
    fixture.router.expireStale();
    assertThat(order).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void firstComeFirstServedUnlessMovedForward() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    joins(fixture, request(1, 101));
    fixture.clockNs.addAndGet(1_000_000_000L);
    joins(fixture, request(2, 101));
    joins(fixture, request(3, 101).priorityJump(0.5));
    joins(fixture, request(4, 101).priorityJump(1.5));
    joins(fixture, request(5, 101).strictPriority(1));
    fixture.router.onFinished(attempts[0], true);
    endEach(fixture);
    assertThat(order).containsExactly(5L, 4L, 1L, 3L, 2L);
  }

  @Test
  void weightedShortestGoesFirstAndWhatIsCachedCostsNothing() {
    RouterFixture fixture = fixture(QueueOptions.of(1.0, QueuePolicy.WSPT));
    fixture.index.hold(rank(0), 0);
    long[] attempts = fill(fixture);
    joins(fixture, request(1, 200));
    joins(fixture, request(2, 120));
    joins(fixture, request(3, 300).priorityJump(2));
    fixture.index.hold(rank(0), 100);
    joins(fixture, request(4, 401));
    fixture.index.hold(rank(0), 0);
    fixture.router.onFinished(attempts[0], true);
    endEach(fixture);
    assertThat(order).containsExactly(4L, 3L, 2L, 1L);
  }

  /** Repeatedly ends all requests that have been dispatched. */
  private void endEach(RouterFixture fixture) {
    for (int ended = 0; ended < order.size(); ended++) {
      long id = order.get(ended);
      fixture.router.onFinished(
          fixture.router.<Long>withLoads(sequences -> sequences.attemptOf(id)), true);
    }
  }

  @Test
  void theQueueIsBoundedInRequests() {
    RouterFixture fixture = fixture(new QueueOptions(1.0, QueuePolicy.FCFS, 2, 1_000, 0));
    fill(fixture);
    var first = waits(fixture, request(1, 8));
    joins(fixture, request(2, 8));
    assertThat(fixture.refused(request(3, 8))).isEqualTo(Refusal.REQUEST_LIMIT);
    assertThat(first.cancel(false)).isTrue();
    joins(fixture, request(3, 8));
  }

  @Test
  void theRequestThatCrossesTheTokenLimitStillWaits() {
    RouterFixture fixture = fixture(new QueueOptions(1.0, QueuePolicy.FCFS, 9, 10, 0));
    fill(fixture);
    joins(fixture, request(1, 8));
    joins(fixture, request(2, 80));
    assertThat(fixture.refused(request(3, 1))).isEqualTo(Refusal.RAW_ISL_TOKEN_LIMIT);
  }

  @Test
  void cancelledRequestsLeaveTheQueue() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var first = waits(fixture, request(1, 8));
    var second = waits(fixture, request(2, 8));
    assertThat(first.cancel(false)).isTrue();
    assertThat(fixture.router.queueDepth()).isEqualTo(new QueueDepth(1, 8));
    assertThat(second.cancel(false)).isTrue();
    assertThat(fixture.router.queueDepth()).isEqualTo(new QueueDepth(0, 0));
    fixture.router.onFinished(attempts[0], true);
    fixture.router.onFinished(attempts[1], true);
    fixture.isIdle();
  }

  @Test
  void noTwoRequestsOfOneIdWait() {
    RouterFixture fixture = fixture(FCFS);
    fill(fixture);
    joins(fixture, request(1, 8));
    assertThat(fixture.refused(request(1, 8))).isEqualTo(Refusal.DUPLICATE_REQUEST);
  }

  @Test
  void aRequestForOneFullRankDoesNotHoldUpOthers() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var pinned = waits(fixture, request(1, 8).filter(RankFilter.pin(rank(0))));
    var any = waits(fixture, request(2, 8));
    fixture.router.onPrefillDone(attempts[1]);
    assertThat(placement(any.join()).rank()).isEqualTo(rank(1));
    assertThat(pinned).isNotDone();
    fixture.router.onPrefillDone(attempts[0]);
    assertThat(placement(pinned.join()).reason()).isEqualTo(Reason.EXPLICIT);
  }

  @Test
  void requestsForARemovedRankAreRefused() {
    RouterFixture fixture = fixture(FCFS);
    fill(fixture);
    var pinned = waits(fixture, request(1, 8).filter(RankFilter.pin(rank(0))));
    var excluding = waits(fixture, request(2, 8).filter(RankFilter.exclude(Set.of(rank(1)))));
    var any = waits(fixture, request(3, 8));
    fixture.router.removeRank(rank(0));
    assertThat(refusal(pinned.join())).isEqualTo(Refusal.PINNED_UNKNOWN);
    assertThat(refusal(excluding.join())).isEqualTo(Refusal.NO_ENDPOINT);
    assertThat(any).isNotDone();
    fixture.router.removeRank(rank(1));
    assertThat(refusal(any.join())).isEqualTo(Refusal.NO_ENDPOINT);
    fixture.isIdle();
  }

  @Test
  void anOverloadedRankHasNoRoom() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 8));
    fixture.router.setBusyThresholds(new BusyThresholds(0.02, null, null));
    fixture.router.onPrefillDone(attempts[0]);
    assertThat(future).isNotDone();
    assertThat(fixture.refused(request(2, 8))).isEqualTo(Refusal.ALL_OVERLOADED);
    fixture.router.setBusyThresholds(BusyThresholds.NONE);
    assertThat(future).isCompleted();
  }

  @Test
  void matchesAreRefreshedAfterALongWait() {
    RouterFixture fixture = fixture(FCFS);
    long[] attempts = fill(fixture);
    fixture.index.hold(rank(0), 1);
    var brief = waits(fixture, request(1, 16));
    int matches = fixture.index.matches();
    fixture.clockNs.addAndGet(10_000_000_000L);
    fixture.index.hold(rank(0), 3);
    fixture.router.onPrefillDone(attempts[0]);
    assertThat(placement(brief.join()).matchedBlocks()).isEqualTo(1);
    assertThat(fixture.index.matches()).isEqualTo(matches);
    fixture.placed(request(1_002, 101).filter(RankFilter.pin(rank(0))));
    var lasting = waits(fixture, request(2, 16));
    fixture.clockNs.addAndGet(10_000_000_001L);
    fixture.index.hold(rank(0), 2);
    fixture.index.hold(rank(1), 4);
    fixture.router.onPrefillDone(attempts[1]);
    assertThat(placement(lasting.join()).matchedBlocks()).isEqualTo(4);
    assertThat(fixture.index.matches()).isEqualTo(matches + 3);
  }

  @Test
  void aFailingSelectorRefusesTheRequest() {
    RankSelector failing =
        (candidates, request, trace) -> {
          throw new IllegalStateException("expected by a test");
        };
    RouterFixture fixture =
        new RouterFixture(failing, RouterFixture.queue(FCFS), new ReentrantLock()).ranks(2);
    long[] attempts = fill(fixture);
    var future = waits(fixture, request(1, 8));
    assertThat(fixture.router.onPrefillDone(attempts[0])).isTrue();
    assertThat(refusal(future.join())).isEqualTo(Refusal.SELECTOR_FAILED);
    fixture.router.onFinished(attempts[0], true);
    fixture.router.onFinished(attempts[1], true);
    fixture.isIdle();
  }

  @Test
  void cancellationDuringPlacementUndoesTheBooking() {
    List<CompletableFuture<RouteOutcome>> cancelled = new ArrayList<>();
    RankSelector cancelling =
        (candidates, request, trace) -> {
          cancelled.forEach(future -> future.cancel(false));
          return Selection.of(0);
        };
    RouterFixture fixture =
        new RouterFixture(cancelling, RouterFixture.queue(FCFS), new ReentrantLock()).ranks(2);
    long[] attempts = fill(fixture);
    cancelled.add(waits(fixture, request(1, 101)));
    var next = waits(fixture, request(2, 8).filter(RankFilter.pin(rank(0))));
    fixture.router.onFinished(attempts[0], true);
    fixture.router.onFinished(attempts[1], true);
    assertThat(cancelled.get(0)).isCancelled();
    assertThat(fixture.index.placed()).doesNotContain("0/0 1000003", "1/0 1000003");
    fixture.router.onFinished(placement(next.join()).attempt(), true);
    fixture.isIdle();
  }
}
