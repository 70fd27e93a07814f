package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.whatif.WhatIfCounts;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.timing.StepProfile;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The first tokens that a policy would give are those that it gives once it serves. */
class WhatIfTimesTest {

  private static final List<String> POLICIES = List.of("round_robin", "cost", "projected");

  /**
   * Shared prefixes at two loads, prompts that share nothing, ranks that step together, and engines
   * that take other times than expected.
   */
  @ParameterizedTest
  @CsvSource({
    "24, 2000, 30, 4, 1, MOCKER, 0.1",
    "24, 2000, 60, 4, 1, MOCKER, 0.1",
    "0, 0, 40, 4, 1, MOCKER, 0.1",
    "24, 2000, 40, 2, 4, MOCKER, 0.2",
    "24, 2000, 8, 4, 1, LLAMA3_8B_A100, 0.2",
  })
  void firstTokensOfPoliciesThatAreAskedAreThoseOfPoliciesThatServe(
      int prefixes,
      int prefixTokens,
      double perSecond,
      int workers,
      int ranks,
      StepProfile engine,
      double most) {
    Workload workload = workload(prefixes, prefixTokens, perSecond);
    StepTiming timing = engine.timing();
    for (String serving : List.of("round_robin", "projected")) {
      List<FleetRouterProvider> others =
          POLICIES.stream()
              .filter(policy -> !policy.equals(serving))
              .map(FleetRouterKind::named)
              .map(FleetRouterProvider.class::cast)
              .toList();
      ReplayResult asked =
          run(workload, ranks, timing, FleetSettings.of(workers, serving).withWhatIf(others));
      for (WhatIfCounts counts : asked.fleet().whatIf()) {
        double p95 =
            run(workload, ranks, timing, FleetSettings.of(workers, counts.router())).ttft().p95Ms();
        String of = counts.router() + ", asked while " + serving + " serves";
        System.out.printf("%s: p95 %.1f said, %.1f found%n", of, counts.firstTokenP95Ms(), p95);
        assertThat(counts.firstTokenP95Ms() / p95).as(of).isBetween(1 - most, 1 + most);
        assertThat(counts.firstTokenP50Ms()).as(of).isPositive().isLessThan(p95);
      }
    }
  }

  private static Workload workload(int prefixes, int prefixTokens, double perSecond) {
    return new OpenLoop(
        new SharedPrefix(
            new SharedPrefix.Shape(
                1_500,
                prefixes,
                prefixTokens,
                0.5,
                new LognormalTokens(400, 1),
                new IntRange(20, 200),
                perSecond,
                7)),
        1);
  }

  private static ReplayResult run(
      Workload workload, int ranks, StepTiming timing, FleetSettings fleet) {
    return Replay.run(
        workload,
        new ReplaySettings(ranks, 200_000, 32).withHashFormat(HashFormat.KVASIR).withTiming(timing),
        fleet,
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }
}
