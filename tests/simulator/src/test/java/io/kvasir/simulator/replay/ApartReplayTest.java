package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prompts and answers on different workers. */
class ApartReplayTest {

  /** 100 tokens take a millisecond. */
  private static final KvTransfer LINK = new KvTransfer(10_000, 1e9);

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "cost", "projected", "conversation"})
  void everyPromptIsComputedOnceAndEveryAnswerOnADecodeRank(String router) {
    ReplayResult result = run(settings(2, 40_000), router, 2, 3, 0);

    ApartResult apart = Objects.requireNonNull(result.apart());
    assertThat(result.rejected()).isZero();
    assertThat(result.completed()).isEqualTo(result.requests());
    assertThat(apart.localRequests()).isZero();
    assertThat(apart.transfers()).isEqualTo(result.requests());
    assertThat(result.ttft().count()).isEqualTo(result.requests());
    assertThat(result.queue().count()).isEqualTo(result.requests());
    List<RankResult> decode = result.ranks().subList(4, 10);
    assertThat(result.ranks()).hasSize(10);
    assertThat(decode.stream().mapToLong(RankResult::inputTokens).sum()).isZero();
    assertThat(decode.stream().mapToLong(RankResult::requests).sum()).isEqualTo(result.requests());
    assertThat(result.inputTokens()).isEqualTo(apart.neededTokens());
    assertThat(apart.movedTokens()).isBetween(1L, apart.neededTokens());
    assertThat(result.cachedTokens()).isBetween(1L, result.upperBoundCachedTokens());
  }

  @ParameterizedTest
  @ValueSource(strings = {"kv_cache_aware", "projected"})
  void smallPoolsEndTooAndEqualRunsAreEqual(String router) {
    ReplaySettings small =
        settings(1, 6_000)
            .withHashFormat(
                FleetSettings.of(2, router).naming(settings(1, 6_000).pool().hashFormat()));
    ReplayResult first = run(small, router, 2, 2, 1_000);
    ReplayResult second = run(small, router, 2, 2, 1_000);

    assertThat(first.completed()).isEqualTo(first.requests());
    assertThat(second).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(first);
  }

  @Test
  void aTransferTakesAMillisecondAndTheTimeOfItsTokens() {
    ReplayResult result = run(settings(1, 200_000), "round_robin", 1, 1, 0);

    ApartResult apart = Objects.requireNonNull(result.apart());
    double expectedMs = 1 + apart.movedTokens() / 100.0 / apart.transfers();
    assertThat(apart.meanTransferMs()).isCloseTo(expectedMs, within(1e-3));
  }

  @Test
  void aSlowLinkDelaysFirstTokensButNotPrompts() {
    ReplaySettings fast = settings(1, 200_000);
    ReplaySettings slow = fast.withMode(new ReplayMode.Apart(new KvTransfer(10_000, 1e7), true));

    assertThat(run(slow, "load_balancing", 1, 1, 0).ttft().meanMs())
        .isGreaterThan(run(fast, "load_balancing", 1, 1, 0).ttft().meanMs() + 20);
  }

  @Test
  void whatADecodeRankHoldsNeedNotBeMovedOrComputed() {
    ReplayResult all = run(settings(1, 200_000), "projected", 1, 1, 1 << 24);

    ApartResult apart = Objects.requireNonNull(all.apart());
    assertThat(apart.localShare()).isGreaterThan(0.9);
    assertThat(apart.local()).containsOnlyKeys("short");
    assertThat(all.completed()).isEqualTo(all.requests());
  }

  @Test
  void otherModesAreRefused() {
    ReplaySettings aggregated = settings(1, 10_000).withMode(ReplayMode.AGGREGATED);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> run(aggregated, "round_robin", 1, 1, 0))
        .withMessage("mode must be apart, not aggregated");
  }

  private static ReplaySettings settings(int ranks, int poolTokens) {
    return new ReplaySettings(ranks, poolTokens, 32).withMode(new ReplayMode.Apart(LINK, true));
  }

  private static ReplayResult run(
      ReplaySettings settings, String router, int prefill, int decode, int limit) {
    Workload sessions =
        new MultiTurn(
            new MultiTurn.Shape(
                40,
                new Starts.Closed(8, 0),
                500,
                new IntRange(2, 5),
                new LognormalTokens(200, 1),
                new IntRange(10, 40),
                new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
                7));
    return Replay.run(
        sessions,
        settings,
        new ApartSettings(
            FleetSettings.of(prefill, router), FleetSettings.of(decode, router), limit),
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }
}
