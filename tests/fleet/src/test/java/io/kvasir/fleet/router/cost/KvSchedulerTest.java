package io.kvasir.fleet.router.cost;

import static io.kvasir.fleet.router.cost.SchedulerFixture.rank;
import static io.kvasir.fleet.router.cost.SchedulerFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class KvSchedulerTest {

  private static final BusyThresholds ABOVE_10_TOKENS = new BusyThresholds(null, 10L, null);

  private final SchedulerFixture fixture =
      new SchedulerFixture(SchedulerFixture.busy(BusyThresholds.NONE)).ranks(3);
  private final KvScheduler scheduler = fixture.scheduler;

  @Test
  void booksWhatTheRankHasStillToCompute() {
    fixture.index.hold(rank(1), 3);
    CostDecision decision = fixture.dispatched(request(7, 18));
    assertThat(decision.rank()).isEqualTo(rank(1));
    assertThat(decision.overlapBlocks()).isEqualTo(3);
    assertThat(decision.why()).isEqualTo(CostDecision.Why.SELECTED);
    assertThat(decision.candidates()).isEqualTo(3);
    PredictedLoads loads = fixture.loads();
    assertThat(loads.activePrefillTokens(1)).isEqualTo(18 - 3 * 4);
    assertThat(loads.activeBlocks(1)).isEqualTo(5);
    assertThat(loads.activeRequests(1)).isEqualTo(1);
    assertThat(loads.activeRequests(0) + loads.activeRequests(2)).isZero();
  }

  @Test
  void explainsItsDecision() {
    fixture.index.hold(rank(1), 3);
    CostDecision decision = fixture.dispatched(request(7, 16));
    assertThat(decision.costs())
        .extracting(CandidateCost::rank)
        .containsExactly(rank(0), rank(1), rank(2));
    CandidateCost chosen = decision.costs().get(1);
    assertThat(chosen.matchedBlocks()).isEqualTo(3);
    assertThat(chosen.newBlocks()).isEqualTo(4);
    assertThat(chosen.terms())
        .containsEntry(CostSelector.PREFILL, 1.0)
        .containsEntry(CostSelector.ACTIVE_BLOCKS, 4.0)
        .containsEntry(CostSelector.ACTIVE_REQUESTS, 0.0);
    assertThat(chosen.cost()).isEqualTo(5);
    assertThat(decision.costs().get(0).cost()).isEqualTo(8);
  }

  @Test
  void tellsHowMuchOfEachRequestItsRankHolds() {
    fixture.index.hold(rank(2), 2);
    fixture.dispatched(request(7, 18));
    assertThat(fixture.hitRates).containsExactly(new HitRateEvent(7, rank(2), 4, 2));
  }

  @Test
  void aListenerThatFailsHarmsNobody() {
    KvScheduler deaf =
        new KvScheduler(
            fixture.index,
            4,
            new CostSelector(CostOptions.DEFAULT),
            KvSchedulerOptions.DEFAULT,
            event -> {
              throw new IllegalStateException("deaf");
            },
            () -> 0);
    deaf.setRank(rank(0), RankCapacity.UNKNOWN);
    SelectionOutcome outcome = deaf.submit(request(1, 8).build()).join();
    assertThat(SchedulerFixture.decision(outcome).rank()).isEqualTo(rank(0));
  }

  @Test
  void loadsAreZeroAfterEveryKindOfEnd() {
    long done = fixture.dispatched(request(1, 19)).attempt();
    assertThat(scheduler.prefillDone(done)).isTrue();
    assertThat(scheduler.push(done, 30)).isTrue();
    assertThat(scheduler.free(done)).isTrue();
    long aborted = fixture.dispatched(request(2, 19)).attempt();
    assertThat(scheduler.free(aborted)).isTrue();
    CostDecision failed = fixture.dispatched(request(3, 19));
    assertThat(scheduler.free(failed.attempt())).isTrue();
    CostDecision retried =
        fixture.dispatched(request(3, 19).filter(RankFilter.exclude(Set.of(failed.rank()))));
    assertThat(retried.rank()).isNotEqualTo(failed.rank());
    assertThat(scheduler.free(failed.attempt())).as("late").isFalse();
    assertThat(scheduler.prefillDone(failed.attempt())).as("late").isFalse();
    assertThat(fixture.loads().activeRequests((int) retried.rank().workerId())).isEqualTo(1);
    assertThat(scheduler.free(retried.attempt())).isTrue();
    assertThat(scheduler.free(retried.attempt())).as("again").isFalse();
    fixture.isIdle();
  }

  @Test
  void loadsOfALostRankAreGone() {
    CostDecision decision = fixture.dispatched(request(1, 19));
    assertThat(scheduler.removeRank(decision.rank())).isEqualTo(1);
    assertThat(scheduler.removeRank(decision.rank())).isZero();
    assertThat(scheduler.free(decision.attempt())).isFalse();
    fixture.isIdle();
    assertThat(fixture.dispatched(request(1, 19)).rank()).isNotEqualTo(decision.rank());
  }

  @Test
  void staleAttemptsExpire() {
    fixture.dispatched(request(1, 19));
    fixture.clockNs.addAndGet(ActiveSequencesOptions.DEFAULT.staleAfterNs() * 2);
    assertThat(scheduler.expireStale()).isEqualTo(1);
    fixture.isIdle();
  }

  @Test
  void requestsGoByLoadWithoutOverlap() {
    for (int i = 0; i < 9; i++) {
      fixture.dispatched(request(i, 16));
    }
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < 3; i++) {
      assertThat(loads.activeRequests(i)).isEqualTo(3);
    }
  }

  @Test
  void overlapWeight0IsPureLoadBalancing() {
    SchedulerFixture balanced =
        new SchedulerFixture(
                new CostSelector(CostOptions.DEFAULT.withOverlapScoreWeight(0)),
                KvSchedulerOptions.DEFAULT,
                new ReentrantLock())
            .ranks(2);
    balanced.index.hold(rank(0), 100);
    RankId first = balanced.dispatched(request(1, 16)).rank();
    RankId second = balanced.dispatched(request(2, 16)).rank();
    assertThat(second).isNotEqualTo(first);
  }

  @Test
  void aRequestMayShareNoBlocks() {
    fixture.scheduler.removeRank(rank(1));
    fixture.scheduler.removeRank(rank(2));
    CostOverrides alone = new CostOverrides(null, null, null, false, null);
    long[] prompt = {1, 2, 3, 4};
    fixture.dispatched(SelectionRequest.builder(1, 16).blocks(prompt, 4));
    fixture.dispatched(SelectionRequest.builder(2, 16).blocks(prompt, 4));
    assertThat(fixture.loads().activeBlocks(0)).isEqualTo(4);
    fixture.dispatched(SelectionRequest.builder(3, 16).blocks(prompt, 4).overrides(alone));
    assertThat(fixture.loads().activeBlocks(0)).isEqualTo(8);
  }

  @Test
  void aRequestMayBeNoPrefill() {
    fixture.dispatched(request(1, 19).overrides(new CostOverrides(null, null, null, null, false)));
    PredictedLoads loads = fixture.loads();
    for (int i = 0; i < 3; i++) {
      assertThat(loads.activePrefillTokens(i)).isZero();
    }
  }

  @Test
  void refusesARequestTwiceAtOnce() {
    CostDecision first = fixture.dispatched(request(1, 16));
    assertThat(fixture.refused(request(1, 16))).isEqualTo(Refusal.DUPLICATE_REQUEST);
    scheduler.free(first.attempt());
    fixture.dispatched(request(1, 16));
  }

  @Test
  void refusesBlocksThatThePromptDoesNotHave() {
    assertThatThrownBy(
            () -> scheduler.submit(SelectionRequest.builder(1, 7).blocks(new long[2], 2).build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("blocks must be 0 to 1 for request 1 (7 tokens), not 2");
    fixture.isIdle();
  }

  @Test
  void aSelectorThatFailsBooksNothing() {
    SchedulerFixture wrong =
        new SchedulerFixture((c, r, t) -> 3, KvSchedulerOptions.DEFAULT, new ReentrantLock())
            .ranks(3);
    assertThatThrownBy(() -> wrong.scheduler.submit(request(1, 16).build()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a selector must choose 0 to 2, not 3");
    wrong.isIdle();
  }

  @Test
  void refusesForDistinctReasons() {
    assertThat(new SchedulerFixture(KvSchedulerOptions.DEFAULT).refused(request(1, 8)))
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
    scheduler.setBusyThresholds(ABOVE_10_TOKENS);
    fixture.dispatched(request(1, 11).filter(RankFilter.pin(rank(1))));
    assertThat(fixture.refused(request(2, 8).filter(RankFilter.pin(rank(1)))))
        .isEqualTo(Refusal.PINNED_OVERLOADED);
    assertThat(fixture.refused(request(2, 8).filter(RankFilter.allow(1))))
        .isEqualTo(Refusal.ALL_OVERLOADED);
    CostDecision other = fixture.dispatched(request(2, 11));
    CostDecision last = fixture.dispatched(request(3, 11));
    assertThat(other.rank()).isNotEqualTo(rank(1));
    assertThat(last.why()).isEqualTo(CostDecision.Why.ONLY_CANDIDATE);
    assertThat(last.costs()).isEmpty();
    assertThat(fixture.refused(request(4, 8))).isEqualTo(Refusal.ALL_OVERLOADED);
    scheduler.prefillDone(last.attempt());
    assertThat(fixture.dispatched(request(4, 8)).rank()).isEqualTo(last.rank());
    scheduler.setBusyThresholds(BusyThresholds.NONE);
    fixture.dispatched(request(5, 8).filter(RankFilter.pin(rank(1))));
  }

  @Test
  void aPinIsObeyedWhateverItCosts() {
    scheduler.setRank(new RankId(2, 1), RankCapacity.UNKNOWN);
    fixture.index.hold(rank(0), 4);
    fixture.index.hold(new RankId(2, 1), 1);
    CostDecision pinned = fixture.dispatched(request(1, 16).filter(RankFilter.pin(rank(1))));
    assertThat(pinned.rank()).isEqualTo(rank(1));
    assertThat(pinned.why()).isEqualTo(CostDecision.Why.PINNED);
    CostDecision worker = fixture.dispatched(request(2, 16).filter(RankFilter.pinWorker(2)));
    assertThat(worker.rank()).isEqualTo(new RankId(2, 1));
    assertThat(worker.candidates()).isEqualTo(2);
    assertThat(worker.why()).isEqualTo(CostDecision.Why.PINNED);
  }
}
