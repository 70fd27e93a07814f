package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.Sight;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.JitteredArrivals;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.timing.StepProfile;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class RouterComparisonTest {

  private static final List<AdpRouterKind> ROUTERS =
      List.of(AdpRouterKind.DEFAULT, AdpRouterKind.PROJECTED);

  private static final RequestSequence REQUESTS =
      new SharedPrefix(
          new SharedPrefix.Shape(
              1_500, 10, 1_000, 1, new LognormalTokens(1_000, 0.5), new IntRange(50, 100), 5, 3));

  @Test
  void playsAtTheSpeedThatKeepsRoundRobinAsBusyAsAskedFor() throws InterruptedException {
    Cell<PlayedLoad> cell = compare(new Load.Share(4, 0.5), 1, List.of(1L, 2L));
    assertThat(cell.load().reachedShare()).isCloseTo(0.5, within(0.005));
    assertThat(cell.load().speed()).isPositive();
    assertThat(cell.policies())
        .extracting(Compared::policy)
        .containsExactlyElementsOf(ROUTERS.stream().map(AdpRouterKind::id).toList());
    assertThat(cell.of("projected").mean(Measure.TOKEN_HIT_RATE))
        .as("prefixes are shared, and only one of the two looks for them")
        .isGreaterThan(cell.of("default").mean(Measure.TOKEN_HIT_RATE));
  }

  @Test
  void resultsDoNotDependOnHowManyThreadsWork() throws InterruptedException {
    Load load = new Load.Share(2, 0.6);
    Cell<PlayedLoad> three = compare(load, 3, List.of(7L, 8L, 9L));
    Cell<PlayedLoad> one = compare(load, 1, List.of(7L, 8L, 9L));
    assertThat(three.policies()).isEqualTo(one.policies());
    assertThat(three.ratios()).isEqualTo(one.ratios());
  }

  /** Sessions whose answers hold them up: the busy share rises less than their speed. */
  private static Cell<PlayedLoad> sessions(double target, DoubleUnaryOperator rate)
      throws InterruptedException {
    Traffic.Source source =
        (speed, seed) ->
            new OpenLoop(new JitteredArrivals(REQUESTS, 1, seed), rate.applyAsDouble(speed));
    ExecutorService pool = Executors.newFixedThreadPool(1);
    try {
      return new RouterComparison(List.of(1L), pool, RunStore.NONE, Double.POSITIVE_INFINITY)
          .compare(
              new Setting(
                  new Traffic("sessions", "", source, source, Traffic.AFTER_ANSWERS),
                  ReplayMode.AGGREGATED,
                  new Load.Share(2, target),
                  100_000),
              List.of(AdpRouterKind.DEFAULT));
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void sessionsReachTheirHighestSpeed() throws InterruptedException {
    double slowest = sessions(0.9, speed -> 1).load().reachedShare();
    assertThat(sessions(3 * slowest, speed -> 1 + (speed - 1) / 10).load().speed()).isEqualTo(16);
  }

  @Test
  void ofTwoCloseSpeedsThatKeepUpTheNearerIsTaken() throws InterruptedException {
    double slowest = sessions(0.9, speed -> 1).load().reachedShare();
    Cell<PlayedLoad> jumps = sessions(1.15 * slowest, speed -> speed < 2 ? 1 : 1.2);
    assertThat(jumps.load().reachedShare()).isGreaterThan(1.15 * slowest);
  }

  @Test
  void whereRoundRobinCannotKeepUpTheFastestSpeedIsTakenAtWhichItDoes()
      throws InterruptedException {
    // A pool that holds one request at a time: decoding, not prefill, is the limit.
    Cell<PlayedLoad> cell = compare(new Load.Share(2, 0.95), 1, List.of(1L), 4_096);
    assertThat(cell.load().reachedShare()).isLessThan(0.9);
    assertThat(cell.load().speed()).isPositive();
  }

  @Test
  void saturatedCasesCompareTheSpeedUpToWhichTheP95IsLowEnough() throws InterruptedException {
    Load load = new Load.Share(4, 0.8);
    List<Long> seeds = List.of(1L, 2L);
    Cell<PlayedLoad> cell = compare(load, 2, seeds, 100_000);
    assertThat(cell.saturated()).isFalse();
    double lowest = cell.best().mean(Measure.TTFT_P95_MS);
    assertThat(compare(load, 2, seeds, 100_000, lowest).saturated()).isFalse();

    Cell<PlayedLoad> saturated = compare(load, 2, seeds, 100_000, 0.9 * lowest);

    assertThat(saturated.saturated()).isTrue();
    assertThat(saturated.policies()).isEqualTo(cell.policies());
    double projected = saturated.capacity("projected").mean();
    double byDefault = saturated.capacity("default").mean();
    assertThat(List.of(projected, byDefault)).allMatch(capacity -> capacity > 0.3 && capacity < 1);
    assertThat(saturated.best().policy())
        .isEqualTo(projected > byDefault ? "projected" : "default");
    assertThat(saturated.overLowest(saturated.best().policy())).isEqualTo(1);
    assertThat(saturated.ratios()).containsOnlyKeys(Measure.TTFT_P95_MS);
    assertThat(saturated.ratio(Measure.TTFT_P95_MS, "default")).isNotNull();
    assertThat(compare(load, 1, seeds, 100_000, 0.9 * lowest).capacities())
        .isEqualTo(saturated.capacities());
  }

  @Test
  void workersWithRolesPlayAtTheSpeedThatKeepsPrefillWorkersAsBusyAsAskedFor()
      throws InterruptedException {
    Load load = new Load.Share(3, 0.5);
    KvTransfer link = new KvTransfer(70_272, 50e9);
    Setting setting =
        new Setting(
            Traffic.jittered(REQUESTS, 1, ""),
            new ReplayMode.Apart(link, true),
            load,
            100_000,
            List.of(),
            1,
            Engines.DEFAULT,
            Sight.WHOLE);
    FleetSettings prefill = FleetSettings.of(1, "projected");
    FleetSettings decode = FleetSettings.of(2, "projected");
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      Cell<PlayedLoad> cell =
          new RouterComparison(List.of(1L), pool, RunStore.NONE, 10_000)
              .compareApart(
                  setting,
                  Map.of(
                      "forecast", new ApartSettings(prefill, decode, WholeOrApart.BY_FORECAST),
                      "none local", new ApartSettings(prefill, decode, 0)));
      assertThat(cell.load().reachedShare()).isCloseTo(0.5, within(0.005));
      Compared noneLocal = cell.of("none local");
      assertThat(noneLocal.mean(Measure.LOCAL_PREFILL_SHARE)).isZero();
      assertThat(noneLocal.mean(Measure.PREFILL_SHARE))
          .as("first steps of decode workers are no prefill")
          .isLessThanOrEqualTo(0.505);
      assertThat(cell.of("forecast").mean(Measure.LOCAL_PREFILL_SHARE)).isPositive();
      assertThat(cell.of("forecast").mean(Measure.ITL_MEAN_MS))
          .isGreaterThan(noneLocal.mean(Measure.ITL_MEAN_MS));
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void enginesThatAreNotAsExpectedAreOtherCases() throws InterruptedException {
    Cell<PlayedLoad> expected = compare(engines(StepProfile.MOCKER, EngineKind.AS_EXPECTED));
    Cell<PlayedLoad> large = compare(engines(StepProfile.DSV3_H800_RANK, EngineKind.AS_EXPECTED));
    assertThat(large.load().speed())
        .as("1,000 tokens take 248 ms instead of 15")
        .isLessThan(expected.load().speed() / 5);
    for (EngineKind kind : List.of(EngineKind.SLOWER, EngineKind.FASTER)) {
      double factor = kind == EngineKind.SLOWER ? 3 : 1 / 3.0;
      Cell<PlayedLoad> scaled = compare(engines(StepProfile.MOCKER, kind));
      assertThat(scaled.load().speed() / expected.load().speed())
          .as(kind.id())
          .isCloseTo(1 / factor, withinPercentage(10));
      assertThat(scaled.of("default").mean(Measure.TTFT_MEAN_MS))
          .as(kind.id())
          .isCloseTo(
              factor * expected.of("default").mean(Measure.TTFT_MEAN_MS), withinPercentage(20));
    }
    Cell<PlayedLoad> hanging = compare(engines(StepProfile.MOCKER, EngineKind.HANGS));
    assertThat(hanging.of("default").mean(Measure.TTFT_P99_MS)).isGreaterThan(10_000);
    assertThat(hanging.ratios())
        .containsOnlyKeys(
            Measure.TTFT_P50_MS, Measure.TTFT_P95_MS, Measure.TTFT_P99_MS, Measure.TTFT_MEAN_MS);
  }

  private static Engines engines(StepProfile profile, EngineKind kind) {
    return new Engines(profile.id(), profile.timing(), kind);
  }

  private static Cell<PlayedLoad> compare(Engines engines) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      return new RouterComparison(List.of(1L, 2L), pool, RunStore.NONE, Double.POSITIVE_INFINITY)
          .compare(
              new Setting(
                  Traffic.jittered(REQUESTS, 1, ""),
                  ReplayMode.AGGREGATED,
                  new Load.Share(4, 0.5),
                  100_000,
                  List.of(),
                  0,
                  engines,
                  Sight.WHOLE),
              ROUTERS);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void bothRolesHaveWorkers() {
    Load load = new Load.Share(2, 0.5);
    for (int prefills : new int[] {-1, 2}) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  new Setting(
                      Traffic.jittered(REQUESTS, 1, ""),
                      ReplayMode.AGGREGATED,
                      load,
                      100_000,
                      List.of(),
                      prefills,
                      Engines.DEFAULT,
                      Sight.WHOLE))
          .withMessage("prefillWorkers must be 0 to 1, not " + prefills);
    }
  }

  private static Cell<PlayedLoad> compare(Load load, int threads, List<Long> seeds)
      throws InterruptedException {
    return compare(load, threads, seeds, 100_000);
  }

  private static Cell<PlayedLoad> compare(Load load, int threads, List<Long> seeds, int poolTokens)
      throws InterruptedException {
    return compare(load, threads, seeds, poolTokens, Double.POSITIVE_INFINITY);
  }

  private static Cell<PlayedLoad> compare(
      Load load, int threads, List<Long> seeds, int poolTokens, double saturatedMs)
      throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      return new RouterComparison(seeds, pool, RunStore.NONE, saturatedMs)
          .compare(
              new Setting(
                  Traffic.jittered(REQUESTS, 1, ""), ReplayMode.AGGREGATED, load, poolTokens),
              ROUTERS);
    } finally {
      pool.shutdownNow();
    }
  }
}
