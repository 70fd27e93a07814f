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
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether decode workers compute prompts: by forecast against fixed limits. */
class LocalPrefillReplayTest {

  private static final int REQUESTS = 1500;
  private static final int EVERYTHING = 1 << 24;
  private static final List<Integer> LIMITS = List.of(0, 256, 1024, 4096, 16_384, EVERYTHING);

  /**
   * Prompts of some hundred tokens, one in 20 of them above 11,000. Of 2 prefill and 2 decode
   * workers both have work; 1 prefill worker has too much of it for 3 decode workers.
   */
  @ParameterizedTest
  @CsvSource({"2, 2, 4.0, 1", "2, 2, 7.0, 1", "1, 3, 4.0, 1", "2, 2, 7.0, 3"})
  void forecastsAreAtLeastAsGoodAsTheBestLimit(int prefill, int decode, double rate, long seed) {
    ReplayResult forecast = run(prefill, decode, rate, seed, WholeOrApart.BY_FORECAST);
    StringBuilder seen =
        new StringBuilder(
            "%d prefill, %d decode, %.1f requests/s, seed %d: p95 %.1f ms by forecast"
                .formatted(prefill, decode, rate, seed, forecast.ttft().p95Ms()));
    double best = Double.POSITIVE_INFINITY;
    for (int limit : LIMITS) {
      double p95Ms = run(prefill, decode, rate, seed, limit).ttft().p95Ms();
      seen.append(", %.1f ms up to %d".formatted(p95Ms, limit));
      best = Math.min(best, p95Ms);
    }
    System.out.println(seen);

    assertThat(forecast.ttft().p95Ms()).as(seen.toString()).isLessThanOrEqualTo(best);
    ApartResult apart = Objects.requireNonNull(forecast.apart());
    assertThat(apart.localRequests()).isPositive();
    assertThat(apart.localRequests() + apart.transfers()).isEqualTo(REQUESTS);
  }

  private static ReplayResult run(int prefill, int decode, double rate, long seed, int limit) {
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
                    rate,
                    seed)),
            1);
    ReplaySettings worker =
        new ReplaySettings(1, 400_000, 32)
            .withMode(new ReplayMode.Apart(new KvTransfer(70_272, 50e9), true));
    ApartSettings apart =
        new ApartSettings(
            FleetSettings.of(prefill, "projected"), FleetSettings.of(decode, "projected"), limit);
    return Replay.run(mix, worker, apart, RankPools.Place.HOST, ReplayProgress.SILENT);
  }
}
