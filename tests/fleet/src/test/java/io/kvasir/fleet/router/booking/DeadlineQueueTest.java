package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static io.kvasir.fleet.router.booking.RouterFixture.refusal;
import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Requests that wait by their deadlines, for one rank that computes a token in a millisecond. */
class DeadlineQueueTest {

  private static final long MS = 1_000_000;

  private final List<Long> order = new ArrayList<>();
  private long running;

  /** Takes the first idle candidate; a prompt takes a millisecond for each token to compute. */
  private static final class OneTokenInAMillisecond implements RankSelector {
    @Override
    public Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
      int first = 0;
      while (first < candidates.size() - 1 && candidates.activePrefillTokens(first) > 0) {
        first++;
      }
      return Selection.of(first);
    }

    @Override
    public double promptMs(long uncachedTokens, long contextTokens) {
      return uncachedTokens;
    }

    @Override
    public double likelihood(Candidates candidates, FleetRequest request) {
      return request.inputTokens() <= request.targets().ttftMs() ? 1 : 0;
    }
  }

  private RouterFixture fixture(int maxQueued) {
    QueueOptions queue = new QueueOptions(0.0, QueuePolicy.EDF, maxQueued, 1L << 30, 0);
    RouterFixture fixture =
        new RouterFixture(
                new OneTokenInAMillisecond(), RouterFixture.queue(queue), new ReentrantLock())
            .ranks(1);
    running = fixture.placed(request(1_000, 100)).attempt();
    return fixture;
  }

  private static FleetRequestBuilder asks(long id, int tokens, double ttftMs) {
    return request(id, tokens).targets(new LatencyTargets(ttftMs, Double.POSITIVE_INFINITY));
  }

  private CompletableFuture<RouteOutcome> waits(
      RouterFixture fixture, FleetRequestBuilder builder) {
    FleetRequest request = builder.build();
    RouteOutcome outcome = fixture.router.route(request);
    assertThat(outcome).isInstanceOf(RouteOutcome.Waiting.class);
    CompletableFuture<RouteOutcome> future = ((RouteOutcome.Waiting) outcome).outcome();
    var unused =
        future.thenAccept(
            later -> {
              if (later instanceof RouteOutcome.Placed placed) {
                order.add(request.id());
                running = placed.placement().attempt();
              }
            });
    return future;
  }

  private void joins(RouterFixture fixture, FleetRequestBuilder builder) {
    assertThat(waits(fixture, builder)).isNotDone();
  }

  /** Ends the running requests, each after a time. */
  private void endAll(RouterFixture fixture, int eachMs) {
    for (long last = 0; last != running; ) {
      last = running;
      fixture.clockNs.addAndGet(eachMs * MS);
      fixture.router.onFinished(running, true);
    }
  }

  @Test
  void theEarliestDeadlineGoesFirstAndThoseWithoutGoBehind() {
    RouterFixture fixture = fixture(100);
    joins(fixture, request(1, 10));
    joins(fixture, asks(2, 10, 900));
    joins(fixture, asks(3, 10, 400));
    fixture.clockNs.addAndGet(300 * MS);
    joins(fixture, asks(4, 10, 500));
    joins(fixture, request(5, 10).strictPriority(3));
    endAll(fixture, 10);
    assertThat(order).containsExactly(3L, 4L, 2L, 5L, 1L);
    fixture.isIdle();
  }

  @Test
  void theLongestOfThoseThatCannotAllBeInTimeGoesAfterThem() {
    RouterFixture fixture = fixture(100);
    joins(fixture, asks(1, 90, 100));
    joins(fixture, asks(2, 40, 110));
    joins(fixture, asks(3, 50, 120));
    endAll(fixture, 0);
    assertThat(order).containsExactly(2L, 3L, 1L);
  }

  @Test
  void aRequestThatIsHopelessGoesBehindAndOneOfANegativeClassIsRefused() {
    RouterFixture fixture = fixture(100);
    joins(fixture, asks(1, 50, 100));
    CompletableFuture<RouteOutcome> sheddable = waits(fixture, asks(2, 50, 100).strictPriority(-1));
    joins(fixture, asks(3, 10, 500));
    fixture.clockNs.addAndGet(90 * MS);
    fixture.router.onFinished(running, true);
    assertThat(refusal(sheddable.join())).isEqualTo(Refusal.TARGETS_UNREACHABLE);
    endAll(fixture, 10);
    assertThat(order).containsExactly(3L, 1L);
    fixture.isIdle();
  }

  @Test
  void aHopelessRequestOfANegativeClassIsRefusedAtOnce() {
    RouterFixture fixture = fixture(100);
    assertThat(fixture.refused(asks(1, 50, 40).strictPriority(-1)))
        .isEqualTo(Refusal.TARGETS_UNREACHABLE);
    joins(fixture, asks(2, 50, 40));
  }

  @Test
  void whereNotAllCanBeInTimeTheLowerClassIsLate() {
    RouterFixture fixture = fixture(100);
    joins(fixture, asks(1, 20, 100));
    joins(fixture, asks(2, 90, 105).strictPriority(1));
    endAll(fixture, 0);
    assertThat(order).containsExactly(2L, 1L);
  }

  @Test
  void inAFullQueueARequestInTimeTakesThePlaceOfOneBehind() {
    RouterFixture fixture = fixture(2);
    joins(fixture, asks(1, 10, 500));
    CompletableFuture<RouteOutcome> behind = waits(fixture, request(2, 10));
    assertThat(fixture.refused(request(3, 10))).isEqualTo(Refusal.REQUEST_LIMIT);
    joins(fixture, asks(4, 10, 900));
    assertThat(refusal(behind.join())).isEqualTo(Refusal.REQUEST_LIMIT);
    assertThat(fixture.refused(asks(5, 10, 100))).isEqualTo(Refusal.REQUEST_LIMIT);
    endAll(fixture, 10);
    assertThat(order).containsExactly(1L, 4L);
    fixture.isIdle();
  }

  @Test
  void noRequestStarvesBehindThoseWithDeadlines() {
    RouterFixture fixture = fixture(1_000);
    joins(fixture, request(1, 20));
    joins(fixture, request(2, 20).strictPriority(9));
    joins(fixture, request(3, 40));
    long id = 10;
    for (int i = 0; i < 3; i++) {
      joins(fixture, asks(id++, 20, 1e6));
    }
    while (!(order.contains(1L) && order.contains(2L) && order.contains(3L))) {
      joins(fixture, asks(id++, 20, 1e6)); // there are always requests that can be in time
      fixture.clockNs.addAndGet(20 * MS);
      fixture.router.onFinished(running, true);
    }
    // one of 33 equally long ones is the oldest behind, and the third counts twice
    assertThat(order.indexOf(1L)).isEqualTo(32);
    assertThat(order.indexOf(2L)).isEqualTo(65);
    assertThat(order.indexOf(3L)).isEqualTo(130);
  }

  @Test
  void noRequestStarvesThatWaitsForARankWhichSeldomHasRoom() {
    RouterFixture fixture = fixture(1_000);
    fixture.ranks(2);
    long other = fixture.placed(request(1_001, 20).filter(RankFilter.pin(rank(1)))).attempt();
    long[] onRank = {running, other};
    joins(fixture, request(1, 20).filter(RankFilter.pin(rank(0))));
    joins(fixture, request(2, 10));
    joins(fixture, asks(3, 20, 1e6));
    long id = 10;
    for (int i = 0; !order.contains(1L); i++) {
      joins(fixture, asks(id++, 20, 1e6));
      int rank = i % 8 == 7 ? 0 : 1;
      fixture.clockNs.addAndGet(20 * MS);
      fixture.router.onFinished(onRank[rank], true);
      onRank[rank] = running;
    }
    // what others leave for it is kept until its rank has room; a later one behind uses none of it
    assertThat(order.indexOf(1L)).isEqualTo(39);
    assertThat(order).doesNotContain(2L);
  }

  @Test
  void whatWasSetAsideForARequestThatLeavesGoesWithIt() {
    RouterFixture fixture = fixture(1_000);
    CompletableFuture<RouteOutcome> behind = waits(fixture, request(1, 600));
    long id = 10;
    for (int i = 0; i < 40; i++) {
      joins(fixture, asks(id++, 20, 1e6));
      fixture.router.onFinished(running, true);
    }
    behind.cancel(false);
    joins(fixture, request(2, 20));
    joins(fixture, asks(id++, 20, 1e6));
    joins(fixture, asks(id++, 20, 1e6));
    fixture.router.onFinished(running, true);
    assertThat(order).doesNotContain(2L);
  }

  @Test
  void aHopelessRequestOfAHigherClassTakesNoneWithIt() {
    RouterFixture fixture = fixture(100);
    joins(fixture, asks(1, 10, 200).strictPriority(-1));
    joins(fixture, asks(2, 500, 400));
    endAll(fixture, 10);
    assertThat(order).containsExactly(1L, 2L);
  }

  @Test
  void anIdleMinuteSaysNothingAboutThePace() {
    RouterFixture fixture = fixture(100);
    waits(fixture, asks(1, 10, 500)).cancel(false);
    fixture.clockNs.addAndGet(60_000 * MS);
    joins(fixture, asks(2, 30, 500).strictPriority(-1));
    joins(fixture, asks(3, 30, 500).strictPriority(-1));
    joins(fixture, asks(4, 30, 500).strictPriority(-1));
    endAll(fixture, 30);
    assertThat(order).containsExactly(2L, 3L, 4L);
  }

  @Test
  void inAQueueFullOfTokensNoneIsRefusedInVain() {
    QueueOptions queue = new QueueOptions(0.0, QueuePolicy.EDF, 100, 100, 0);
    RouterFixture fixture =
        new RouterFixture(
                new OneTokenInAMillisecond(), RouterFixture.queue(queue), new ReentrantLock())
            .ranks(1);
    running = fixture.placed(request(1_000, 100)).attempt();
    joins(fixture, request(2, 10));
    joins(fixture, request(1, 150).strictPriority(1));
    assertThat(fixture.refused(asks(3, 10, 500))).isEqualTo(Refusal.RAW_ISL_TOKEN_LIMIT);
    assertThat(fixture.router.queueDepth().requests()).isEqualTo(2);
    fixture.router.onFinished(running, true);
    assertThat(order).containsExactly(1L);
  }

  @Test
  void aRequestThatOnlyAFullRankMayServeHoldsUpNone() {
    RouterFixture fixture = fixture(100);
    fixture.ranks(2);
    long other = fixture.placed(request(1_001, 100).filter(RankFilter.pin(rank(1)))).attempt();
    joins(fixture, asks(1, 10, 500).filter(RankFilter.pin(rank(0))));
    joins(fixture, asks(2, 10, 900));
    fixture.router.onFinished(other, true);
    assertThat(order).containsExactly(2L);
  }
}
