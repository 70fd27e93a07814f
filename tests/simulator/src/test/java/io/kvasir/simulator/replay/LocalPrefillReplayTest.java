package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Workload;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Whether decode workers compute prompts: by forecast against fixed limits. */
class LocalPrefillReplayTest {

  private static final int REQUESTS = 1000;
  private static final long SEED = 1;
  private static final int EVERYTHING = 1 << 24;
  private static final List<Integer> LIMITS = List.of(0, 256, 1024, 4096, 16_384, EVERYTHING);

  /** How far above that of the best limit the p95 by forecast may be. */
  private static final double NEAR = 1.1;

  private record Load(int prefill, int decode, double rate) {}

  /**
   * Prompts of some hundred tokens, one in 20 of them above 11,000. Of 2 prefill and 2 decode
   * workers both have work; 1 prefill worker has too much of it for 3 decode workers, and 1 decode
   * worker for 3 prefill workers.
   */
  private static final List<Load> LOADS =
      List.of(new Load(2, 2, 7), new Load(1, 3, 4), new Load(3, 1, 3));

  /**
   * The forecast is near the best of six limits at each load, and no limit is. It is not the best
   * at each load.
   */
  @Test
  void theForecastIsNearTheBestLimitAtEachLoadAndNoLimitIs() {
    double[] worst = new double[LIMITS.size()];
    for (Load load : LOADS) {
      ReplayResult forecast = run(load, WholeOrApart.BY_FORECAST);
      double[] p95Ms =
          LIMITS.stream().mapToDouble(each -> run(load, each).ttft().p95Ms()).toArray();
      double best = Arrays.stream(p95Ms).min().orElseThrow();
      String seen =
          "%s, seed %d: p95 %.1f ms by forecast, %s by limits %s"
              .formatted(load, SEED, forecast.ttft().p95Ms(), Arrays.toString(p95Ms), LIMITS);
      System.out.println(seen);

      assertThat(forecast.ttft().p95Ms()).as(seen).isLessThanOrEqualTo(NEAR * best);
      ApartResult apart = Objects.requireNonNull(forecast.apart());
      assertThat(apart.localRequests()).isPositive();
      assertThat(apart.localRequests() + apart.transfers()).isEqualTo(REQUESTS);
      for (int i = 0; i < worst.length; i++) {
        worst[i] = Math.max(worst[i], p95Ms[i] / best);
      }
    }
    assertThat(Arrays.stream(worst).min().orElseThrow()).isGreaterThan(NEAR);
  }

  private static ReplayResult run(Load load, int limit) {
    Workload mix =
        new OpenLoop(
            new SharedPrefix(
                new SharedPrefix.Shape(
                    REQUESTS,
                    8,
                    256,
                    1,
                    new LognormalTokens(600, 1.8),
                    new IntRange(50, 500),
                    load.rate(),
                    SEED)),
            1);
    ReplaySettings worker =
        new ReplaySettings(1, 400_000, 32)
            .withMode(new ReplayMode.Apart(new KvTransfer(70_272, 50e9), true));
    ApartSettings apart =
        new ApartSettings(
            FleetSettings.of(load.prefill(), "projected"),
            FleetSettings.of(load.decode(), "projected"),
            limit);
    return Replay.run(mix, worker, apart, RankPools.Place.HOST, ReplayProgress.SILENT);
  }
}
