package io.kvasir.fleet.router.booking;

import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.TextSink;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.fleet.router.cost.Ties;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class BookingRouterTest {

  private static final BusyThresholds ABOVE_10_TOKENS = new BusyThresholds(null, 10L, null);

  private final RouterFixture fixture =
      new RouterFixture(RouterFixture.busy(BusyThresholds.NONE)).ranks(3);
  private final BookingRouter router = fixture.router;

  @Test
  void booksWhatTheRankHasStillToCompute() {
    fixture.index.hold(rank(1), 3);
    Placement placement = fixture.placed(request(7, 18));
    assertThat(placement.rank()).isEqualTo(rank(1));
    assertThat(placement.matchedBlocks()).isEqualTo(3);
    assertThat(placement.reason()).isEqualTo(Reason.COST);
    assertThat(placement.eligible()).isEqualTo(3);
    PredictedLoads loads = fixture.loads();
    assertThat(loads.activePrefillTokens(1)).isEqualTo(18 - 3 * 4);
    assertThat(loads.activeBlocks(1)).isEqualTo(5);
    assertThat(loads.activeRequests(1)).isEqualTo(1);
    assertThat(loads.activeRequests(0) + loads.activeRequests(2)).isZero();
  }

  @Test
  void explainsItsDecision() {
    fixture.index.hold(rank(1), 3);
    Placement placement = fixture.placed(request(7, 16));
    assertThat(placement.candidates())
        .extracting(CandidateCost::rank)
        .containsExactly(rank(0), rank(1), rank(2));
    CandidateCost chosen = placement.candidates().get(1);
    assertThat(chosen.matchedBlocks()).isEqualTo(3);
    assertThat(chosen.newBlocks()).isEqualTo(4);
    assertThat(chosen.terms())
        .containsEntry(CostSelector.PREFILL, 1.0)
        .containsEntry(CostSelector.ACTIVE_BLOCKS, 4.0)
        .containsEntry(CostSelector.ACTIVE_REQUESTS, 0.0);
    assertThat(chosen.cost()).isEqualTo(5);
    assertThat(placement.terms()).isEqualTo(chosen.terms());
    assertThat(placement.candidates().get(0).cost()).isEqualTo(8);
  }

  @Test
  void equalRanksAreTakenInTurn() {
    RouterFixture turns =
        new RouterFixture(
                new CostSelector(CostOptions.DEFAULT, Ties.IN_TURN),
                RouterFixture.busy(BusyThresholds.NONE),
                new ReentrantLock())
            .ranks(3);
    turns.index.hold(rank(1), 3);
    assertThat(nextRank(turns, 7)).as("the one that holds the prompt").isEqualTo(rank(1));
    turns.index.hold(rank(1), 0);
    for (long id = 10; id < 40; id += 3) {
      Set<RankId> others = Set.of(nextRank(turns, id), nextRank(turns, id + 1));
      assertThat(others).containsExactlyInAnyOrder(rank(0), rank(2));
      Placement preview = placed(turns.router.preview(request(id + 2, 16).build()));
      assertThat(preview.rank()).isEqualTo(rank(1));
      assertThat(nextRank(turns, id + 2)).as("as previewed").isEqualTo(rank(1));
    }
  }

  /** The rank of a request that ends at once. */
  private static RankId nextRank(RouterFixture of, long id) {
    Placement placement = of.placed(request(id, 16));
    of.router.onFinished(placement.attempt(), true);
    return placement.rank();
  }

  @Test
  void aPreviewChoosesAsTheRequestWouldAndBooksNothing() {
    fixture.index.hold(rank(1), 3);
    fixture.placed(request(1, 40));
    Placement preview = placed(router.preview(request(7, 18).build()));
    assertThat(fixture.loads().activeRequests(1)).isEqualTo(1);
    Placement placement = fixture.placed(request(7, 18));
    assertThat(preview.attempt()).isZero();
    assertThat(preview.rank()).isEqualTo(placement.rank());
    assertThat(preview.matchedBlocks()).isEqualTo(placement.matchedBlocks());
    assertThat(preview.candidates()).isEqualTo(placement.candidates());
    assertThat(router.preview(request(8, 18).filter(RankFilter.pin(rank(9))).build()))
        .isInstanceOf(RouteOutcome.Refused.class);
  }

  private static Placement placed(RouteOutcome outcome) {
    return ((RouteOutcome.Placed) outcome).placement();
  }

  @Test
  void aFailingIndexAffectsNoRequest() {
    fixture.index.fail();
    RouteOutcome outcome = router.route(request(1, 8).filter(RankFilter.pin(rank(0))).build());
    assertThat(RouterFixture.placement(outcome).rank()).isEqualTo(rank(0));
  }

  @Test
  void loadsAreZeroAfterEveryKindOfEnd() {
    long done = fixture.placed(request(1, 19)).attempt();
    assertThat(router.onPrefillDone(done)).isTrue();
    assertThat(router.onTokens(done, 30)).isTrue();
    assertThat(router.onFinished(done, true)).isTrue();
    long aborted = fixture.placed(request(2, 19)).attempt();
    assertThat(router.onFinished(aborted, true)).isTrue();
    Placement failed = fixture.placed(request(3, 19));
    assertThat(router.onFinished(failed.attempt(), true)).isTrue();
    Placement retried =
        fixture.placed(request(3, 19).filter(RankFilter.exclude(Set.of(failed.rank()))));
    assertThat(retried.rank()).isNotEqualTo(failed.rank());
    assertThat(router.onFinished(failed.attempt(), true)).as("late").isFalse();
    assertThat(router.onPrefillDone(failed.attempt())).as("late").isFalse();
    assertThat(fixture.loads().activeRequests((int) retried.rank().workerId())).isEqualTo(1);
    assertThat(router.onFinished(retried.attempt(), true)).isTrue();
    assertThat(router.onFinished(retried.attempt(), true)).as("again").isFalse();
    fixture.isIdle();
  }

  @Test
  void loadsOfALostRankAreGone() {
    Placement placement = fixture.placed(request(1, 19));
    assertThat(router.removeRank(placement.rank())).isTrue();
    assertThat(router.removeRank(placement.rank())).isFalse();
    assertThat(router.onFinished(placement.attempt(), true)).isFalse();
    fixture.isIdle();
    assertThat(fixture.placed(request(1, 19)).rank()).isNotEqualTo(placement.rank());
  }

  @Test
  void staleAttemptsExpire() {
    fixture.placed(request(1, 19));
    fixture.clockNs.addAndGet(ActiveSequencesOptions.DEFAULT.staleAfterNs() * 2);
    assertThat(router.expireStale()).isEqualTo(1);
    fixture.isIdle();
  }

  @Test
  void requestsGoByLoadWithoutMatches() {
    for (int i = 0; i < 9; i++) {
      fixture.placed(request(i, 16));
    }
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < 3; i++) {
      assertThat(loads.activeRequests(i)).isEqualTo(3);
    }
  }

  @Test
  void scoreWeight0IsPureLoadBalancing() {
    RouterFixture balanced =
        new RouterFixture(
                new CostSelector(CostOptions.DEFAULT.withOverlapScoreWeight(0)),
                BookingOptions.DEFAULT,
                new ReentrantLock())
            .ranks(2);
    balanced.index.hold(rank(0), 100);
    RankId first = balanced.placed(request(1, 16)).rank();
    RankId second = balanced.placed(request(2, 16)).rank();
    assertThat(second).isNotEqualTo(first);
  }

  @Test
  void aRequestMayShareNoBlocks() {
    fixture.router.removeRank(rank(1));
    fixture.router.removeRank(rank(2));
    CostOverrides alone = new CostOverrides(null, null, null, false, null);
    long[] prompt = {1, 2, 3, 4};
    fixture.placed(request(1, 16, prompt));
    fixture.placed(request(2, 16, prompt));
    assertThat(fixture.loads().activeBlocks(0)).isEqualTo(4);
    fixture.placed(request(3, 16, prompt).overrides(alone));
    assertThat(fixture.loads().activeBlocks(0)).isEqualTo(8);
  }

  @Test
  void aRequestMayBeNoPrefill() {
    fixture.placed(request(1, 19).overrides(new CostOverrides(null, null, null, null, false)));
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < 3; i++) {
      assertThat(loads.activePrefillTokens(i)).isZero();
    }
  }

  @Test
  void refusesARequestTwiceAtOnce() {
    Placement first = fixture.placed(request(1, 16));
    assertThat(fixture.refused(request(1, 16))).isEqualTo(Refusal.DUPLICATE_REQUEST);
    router.onFinished(first.attempt(), true);
    fixture.placed(request(1, 16));
  }

  @Test
  void refusesBlocksThatThePromptDoesNotHave() {
    assertThatThrownBy(() -> router.route(request(1, 7, new long[2]).build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("blocks must be 0 to 1 for request 1 (7 tokens), not 2");
    fixture.isIdle();
  }

  @Test
  void aSelectorThatFailsBooksNothing() {
    RouterFixture wrong =
        new RouterFixture((c, r, t) -> Selection.of(3), BookingOptions.DEFAULT, new ReentrantLock())
            .ranks(3);
    assertThatThrownBy(() -> wrong.router.route(request(1, 16).build()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a selector must choose 0 to 2, not 3");
    wrong.isIdle();
  }

  @Test
  void refusesForDistinctReasons() {
    assertThat(new RouterFixture(BookingOptions.DEFAULT).refused(request(1, 8)))
        .isEqualTo(Refusal.NO_ENDPOINT);
    assertThat(fixture.refused(request(1, 8).filter(RankFilter.allow(9))))
        .isEqualTo(Refusal.NO_ENDPOINT);
    assertThat(fixture.refused(request(1, 8).filter(RankFilter.pin(new RankId(1, 1)))))
        .isEqualTo(Refusal.PINNED_UNKNOWN);
    assertThat(fixture.refused(request(1, 8).filter(RankFilter.pinWorker(9))))
        .isEqualTo(Refusal.PINNED_UNKNOWN);
    assertThat(
            fixture.refused(request(1, 8).filter(new RankFilter(null, Set.of(rank(1)), 1L, null))))
        .isEqualTo(Refusal.PINNED_NOT_ALLOWED);
    fixture.isIdle();
  }

  @Test
  void overloadedRanksGetNothing() {
    router.setBusyThresholds(ABOVE_10_TOKENS);
    fixture.placed(request(1, 11).filter(RankFilter.pin(rank(1))));
    assertThat(fixture.refused(request(2, 8).filter(RankFilter.pin(rank(1)))))
        .isEqualTo(Refusal.PINNED_OVERLOADED);
    assertThat(fixture.refused(request(2, 8).filter(RankFilter.allow(1))))
        .isEqualTo(Refusal.ALL_OVERLOADED);
    Placement other = fixture.placed(request(2, 11));
    Placement last = fixture.placed(request(3, 11));
    assertThat(other.rank()).isNotEqualTo(rank(1));
    assertThat(last.reason()).isEqualTo(Reason.ONLY_CANDIDATE);
    assertThat(last.candidates()).isEmpty();
    assertThat(fixture.refused(request(4, 8))).isEqualTo(Refusal.ALL_OVERLOADED);
    router.onPrefillDone(last.attempt());
    assertThat(fixture.placed(request(4, 8)).rank()).isEqualTo(last.rank());
    router.setBusyThresholds(BusyThresholds.NONE);
    fixture.placed(request(5, 8).filter(RankFilter.pin(rank(1))));
  }

  @Test
  void aPinIsObeyedWhateverItCosts() {
    router.addRank(new RankId(2, 1), RankCapacity.UNKNOWN);
    fixture.index.hold(rank(0), 4);
    fixture.index.hold(new RankId(2, 1), 1);
    Placement pinned = fixture.placed(request(1, 16).filter(RankFilter.pin(rank(1))));
    assertThat(pinned.rank()).isEqualTo(rank(1));
    assertThat(pinned.reason()).isEqualTo(Reason.EXPLICIT);
    Placement worker = fixture.placed(request(2, 16).filter(RankFilter.pinWorker(2)));
    assertThat(worker.rank()).isEqualTo(new RankId(2, 1));
    assertThat(worker.eligible()).isEqualTo(2);
    assertThat(worker.reason()).isEqualTo(Reason.EXPLICIT);
  }

  @Test
  void theIndexLearnsEachPlacementBeforeTheOutcomeIsDelivered() {
    fixture.placed(request(1, 18).filter(RankFilter.pin(rank(2))));
    fixture.placed(request(2, 3).filter(RankFilter.pin(rank(0))));
    assertThat(fixture.index.placed()).containsExactly("2/0 1000003", "0/0 none");
  }

  @Test
  void namedOutputBlocksAreShared() {
    BookingOptions output =
        BookingOptions.DEFAULT.withLoads(ActiveSequencesOptions.DEFAULT.withOutputBlocks(true));
    RouterFixture growing = new RouterFixture(output).ranks(1);
    long first = growing.placed(request(1, 4, 11)).attempt();
    assertThat(growing.router.onTokens(first, 5, new long[] {12}, 1)).isTrue();
    assertThat(growing.loads().activeBlocks(0)).isEqualTo(3);
    growing.placed(request(2, 8, 11, 12));
    assertThat(growing.loads().activeBlocks(0)).as("both blocks are shared").isEqualTo(3);
  }

  @Test
  void expectedOutputDiscountsBlocksThatAreAboutToBeFreed() {
    BookingOptions output =
        BookingOptions.DEFAULT.withLoads(ActiveSequencesOptions.DEFAULT.withOutputBlocks(true));
    RouterFixture growing = new RouterFixture(output).ranks(1);
    long attempt = growing.placed(request(1, 4).expectedOutputTokens(10)).attempt();
    assertThat(growing.router.onTokens(attempt, 5)).isTrue();
    assertThat(growing.loads().activeBlocks(0)).isEqualTo(3);
    assertThat(growing.loads().weightedBlocks(0)).isEqualTo(1.5);
  }

  @Test
  void closingClosesTheIndex() {
    router.close();
    assertThat(fixture.index.isClosed()).isTrue();
  }

  /** A prompt can be megabytes, and all requests wait for the lock. */
  @Test
  void promptsAreReadOutsideTheLock() {
    ReentrantLock lock = new ReentrantLock();
    RouterFixture fixture =
        new RouterFixture(new CostSelector(CostOptions.DEFAULT), BookingOptions.DEFAULT, lock)
            .ranks(2);
    List<String> reads = new ArrayList<>();
    PromptSource prompt =
        new PromptSource() {
          private void read(String what) {
            reads.add(lock.isHeldByCurrentThread() ? what + " under the lock" : what);
          }

          @Override
          public Form form() {
            return Form.CHAT;
          }

          @Override
          public Prompt prompt() {
            throw new AssertionError("the prompt need not be decoded");
          }

          @Override
          public void forEachText(TextSink sink) {
            read("text");
            Prompt.of("user:Hello, what is this?").forEachText(sink);
          }

          @Override
          public Turn turn() {
            read("turn");
            return Turn.FIRST;
          }
        };

    RouteOutcome outcome = fixture.router.route(FleetRequest.builder(1, prompt).build());

    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    assertThat(reads).containsExactly("text", "turn");
  }
}
