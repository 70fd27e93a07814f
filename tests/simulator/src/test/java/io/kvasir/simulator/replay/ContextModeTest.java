package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.timing.StepTiming;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Replays of context ranks, whose requests are continued by generation workers. */
class ContextModeTest {

  private static final double NS = 1e-6;

  /** 64 tokens take 6.4 ms. */
  private static final KvTransfer LINK = new KvTransfer(10_000, 1e8);

  private static MultiTurn sessions(int count, int concurrency, IntRange turns, IntRange outputs) {
    return new MultiTurn(
        new MultiTurn.Shape(
            count,
            new Starts.Closed(concurrency, 0),
            64,
            turns,
            new LognormalTokens(60, 1),
            outputs,
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
            11));
  }

  private static ReplaySettings aggregated(int ranks, int poolTokens, CapacityPolicy policy) {
    return new ReplaySettings(ranks, poolTokens, 32)
        .withRouter(AdpRouterKind.KV_CACHE_AWARE)
        .withExecutor(ExecutorOptions.DEFAULT.withCapacityPolicy(policy));
  }

  private static ReplaySettings aggregated(int ranks, int poolTokens) {
    return aggregated(ranks, poolTokens, CapacityPolicy.GUARANTEED_NO_EVICT);
  }

  private static ReplaySettings context(ReplaySettings settings) {
    return settings.withMode(new ReplayMode.Context(LINK, 5));
  }

  private static ReplayResult run(Workload workload, ReplaySettings settings) {
    return run(workload, settings, new TimedStepEngine(StepTiming.DEFAULT));
  }

  private static ReplayResult run(Workload workload, ReplaySettings settings, StepEngine engine) {
    return Replay.run(
        workload, settings, RankPools.Place.HOST, rank -> engine, ReplayProgress.SILENT);
  }

  @Test
  void anAnswerComesWhenItsPromptIsComputedAndSentOneTokenAfterTheOther() {
    MultiTurn single = sessions(1, 1, new IntRange(1, 1), new IntRange(4, 4));

    ReplayResult result = run(single, context(aggregated(1, 10_000)));

    double transferMs = result.inputTokens() / 10.0;
    assertThat(result.ttft().meanMs())
        .as("as on a rank that answers itself")
        .isEqualTo(run(single, aggregated(1, 10_000)).ttft().meanMs());
    assertThat(result.itl().count()).isEqualTo(3);
    assertThat(result.itl().p50Ms()).isEqualTo(5, within(NS));
    assertThat(result.itl().maxMs()).isEqualTo(transferMs + 5, within(NS));
    assertThat(result.virtualSeconds() * 1000)
        .isEqualTo(result.ttft().meanMs() + transferMs + 3 * 5, within(NS));
    assertThat(result.outputTokens()).isEqualTo(4);
    assertThat(result.ranks().get(0).peakInTransferRequests()).isEqualTo(1);
  }

  @Test
  void sessionsGoOnAsElsewhereButFindOnlyWhatWasComputedHere() {
    MultiTurn oneByOne = sessions(6, 1, new IntRange(3, 5), new IntRange(40, 90));

    ReplayResult result = run(oneByOne, context(aggregated(1, 1_000_000)));
    ReplayResult whole = run(oneByOne, aggregated(1, 1_000_000));

    assertThat(result.completed()).isEqualTo(whole.completed());
    assertThat(result.inputTokens()).as("the same conversations").isEqualTo(whole.inputTokens());
    assertThat(result.outputTokens()).isEqualTo(whole.outputTokens());
    assertThat(result.cachedTokens())
        .isEqualTo(result.upperBoundCachedTokens())
        .isPositive()
        .isLessThan(whole.upperBoundCachedTokens());
  }

  @ParameterizedTest
  @EnumSource(CapacityPolicy.class)
  void poolsFullOfWhatIsBeingSentServeEverybodyInTheEnd(CapacityPolicy policy) {
    ReplaySettings tight = context(aggregated(2, 1_600, policy));
    MultiTurn crowd = sessions(60, 30, new IntRange(2, 3), new IntRange(10, 40));

    ReplayResult result = run(crowd, tight);

    assertThat(result.completed() + result.rejected()).isEqualTo(result.requests());
    assertThat(result.completed()).isGreaterThan(100);
    assertThat(result.queue().maxMs()).as("somebody waited for a transfer").isGreaterThan(10);
    assertThat(result.ranks()).allMatch(rank -> rank.peakActiveBlocks() > 40);
  }

  @Test
  void aRankThatIsLostOnTheWayChangesNoAnswerAndIsCountedOnce() {
    ReplaySettings settings = context(aggregated(3, 20_000));
    MultiTurn crowd = sessions(20, 10, new IntRange(2, 4), new IntRange(10, 40));
    ReplayResult undisturbed = run(crowd, settings);
    TimedStepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);
    int[] steps = {0};

    ReplayResult result =
        run(
            crowd,
            settings,
            plan -> {
              if (++steps[0] == 7) {
                throw new FatalDeviceException("gone", null);
              }
              return engine.step(plan);
            });

    assertThat(result.completed()).isEqualTo(undisturbed.completed());
    assertThat(result.outputTokens()).isEqualTo(undisturbed.outputTokens());
    assertThat(result.inputTokens()).isEqualTo(undisturbed.inputTokens());
    assertThat(result.ttft().count()).isEqualTo(result.completed());
    assertThat(result.sum(RankResult::requests)).isGreaterThan(result.completed());
  }

  @Test
  void severalInstancesSendAndAnswerAtTheirOwnPace() {
    ReplaySettings tight = context(aggregated(2, 1_600));
    MultiTurn crowd = sessions(60, 30, new IntRange(2, 3), new IntRange(10, 40));

    ReplayResult one = run(crowd, tight);
    ReplayResult three =
        Replay.run(
            crowd,
            tight,
            FleetSettings.of(3, "conversation"),
            RankPools.Place.HOST,
            ReplayProgress.SILENT);

    assertThat(three.requests()).isEqualTo(one.requests());
    assertThat(three.completed()).isEqualTo(one.completed());
    assertThat(three.outputTokens()).isEqualTo(one.outputTokens());
    assertThat(three.ranks()).allMatch(rank -> rank.peakInTransferRequests() > 0);
    assertThat(three.itl().p50Ms()).isEqualTo(5, within(NS));
    assertThat(three.queue().meanMs()).isLessThan(one.queue().meanMs());
  }

  @Test
  void generationTakesAFiniteTime() {
    assertThatThrownBy(() -> new ReplayMode.Context(LINK, -1))
        .hasMessageContaining("generationMsPerToken must be finite and at least 0");
    assertThatThrownBy(() -> new ReplayMode.Context(LINK, Double.NaN))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
