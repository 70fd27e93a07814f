package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Step times that are far from what {@code projected} begins with are learned at once. */
class WrongPriorTest {

  private static final int REQUESTS = 1_200;
  private static final int FIRST_REQUESTS = 200;
  private static final int SEEDS = 3;

  private static double p95Ms(StepTiming prior, long seed) {
    SharedPrefix.Shape shape =
        new SharedPrefix.Shape(
            REQUESTS,
            40,
            3_000,
            1,
            new LognormalTokens(1_200, 1),
            new IntRange(100, 200),
            24,
            seed);
    ReplaySettings settings =
        new ReplaySettings(8, 400_000, 32)
            .withRouter(AdpRouterKind.PROJECTED)
            .withMeasures(new Measures(null, false, true))
            .withTiming(prior)
            .withEngines(ReplaySettings.Engines.DEFAULT);
    FirstTokens times =
        Replay.run(
                new OpenLoop(new SharedPrefix(shape), 1),
                settings,
                RankPools.Place.HOST,
                ReplayProgress.SILENT)
            .firstTokens();
    double[] later = new double[times.size() - FIRST_REQUESTS];
    Arrays.setAll(later, i -> times.ns(FIRST_REQUESTS + i) / 1e6);
    Arrays.sort(later);
    return later[(int) (0.95 * later.length)];
  }

  private static StepTiming scaled(double linear, double kv, double constant) {
    StepTiming right = StepTiming.DEFAULT;
    return new StepTiming(
        right.prefillQuadratic(),
        linear * right.prefillLinear(),
        right.prefillConstantMs(),
        kv * right.decodeQuadratic(),
        kv * right.decodeLinear(),
        constant * right.decodeConstantMs(),
        right.decodeFloorMs(),
        right.decodeKvTokens());
  }

  /** Of prefill tokens, of KV that decoding reads, and of decode steps. */
  @ParameterizedTest
  @CsvSource({"15, 1, 1", "0.1, 1, 1", "1, 15, 1", "1, 1, 15"})
  void afterTwoHundredRequestsItDoesNotMatter(double linear, double kv, double constant) {
    double wrongMs = 0;
    double rightMs = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      wrongMs += p95Ms(scaled(linear, kv, constant), seed);
      rightMs += p95Ms(StepTiming.DEFAULT, seed);
    }
    assertThat(wrongMs / rightMs).isLessThan(1.06);
  }
}
