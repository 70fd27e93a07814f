package io.kvasir.fleet.router.projected;

import static io.kvasir.fleet.router.projected.ProjectedRouters.unshared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.projected.TransferTimes.Moved;
import io.kvasir.model.RankId;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Learned times of transfers: per pair, and in the choice of the worker that answers. */
class TransferTimesTest {

  private static final double FAST = 0.0014;
  private static final double SLOW = 0.014;
  private static final CostOverrides COMPUTED = new CostOverrides(null, null, null, null, false);
  private static final long PREFILL = 100;

  private final TransferTimes times = new TransferTimes();
  private long nowNs = 1;
  private int requests;

  /** Workers of one half reach each other ten times as fast as those of the other. */
  private static double tokenMs(long prefill, long decode) {
    return prefill % 2 == decode % 2 ? FAST : SLOW;
  }

  @Test
  void pairsOfTwoSpeedsAreToldApartThroughNoise() {
    Random random = new Random(3);
    for (int i = 0; i < 6 * 8 * 400; i++) {
      long prefill = random.nextInt(6);
      long decode = random.nextInt(8);
      long tokens = 500L + random.nextInt(8_000);
      double ms = (8 + tokenMs(prefill, decode) * tokens) * Math.exp(0.3 * random.nextGaussian());
      times.learn(new Moved(prefill, decode, tokens, 8), ms, nowNs);
    }
    assertThat(times.pairs()).isEqualTo(48);
    for (long prefill = 0; prefill < 6; prefill++) {
      for (long decode = 0; decode < 8; decode++) {
        double whole = 8 + tokenMs(prefill, decode) * 8_000;
        assertThat(8 + times.ms(prefill, decode, 8_000, nowNs))
            .as("%d to %d", prefill, decode)
            .isCloseTo(whole, within(0.1 * whole));
      }
    }
  }

  @Test
  void aPairThatWasNotSeenIsLikeItsPrefillWorkerAndThenLikeAll() {
    assertThat(times.ms(1, 1, 1_000, nowNs)).isCloseTo(1.405, within(0.01));
    for (int i = 0; i < 50; i++) {
      times.learn(new Moved(1, 1, 1_000, 0), 20, nowNs);
      times.learn(new Moved(2, 1, 1_000, 0), 2, nowNs);
    }
    assertThat(times.ms(1, 9, 1_000, nowNs)).isCloseTo(20, within(2.0));
    assertThat(times.ms(2, 9, 1_000, nowNs)).isCloseTo(2, within(0.2));
    assertThat(times.ms(3, 9, 1_000, nowNs)).isBetween(2.0, 20.0);
    assertThat(times.ms(FleetRequest.NO_WORKER, 9, 1_000, nowNs))
        .isEqualTo(times.ms(3, 9, 1_000, nowNs));
  }

  @Test
  void onlyPairsThatExistAreKept() {
    for (int prefill = 0; prefill < TransferTimes.MOST_PREFILL_WORKERS + 10; prefill++) {
      times.learn(new Moved(prefill, 1, 1_000, 0), 2, ++nowNs);
      times.learn(new Moved(prefill, 2, 1_000, 0), 2, ++nowNs);
    }
    assertThat(times.pairs()).isEqualTo(2 * TransferTimes.MOST_PREFILL_WORKERS);
    times.forget(1);
    assertThat(times.pairs()).isEqualTo(TransferTimes.MOST_PREFILL_WORKERS);
  }

  @Test
  void aPairThatIsNotSeenForLongIsTriedAgain() {
    for (int i = 0; i < 100; i++) {
      times.learn(new Moved(1, 1, 1_000, 0), 2, nowNs);
      times.learn(new Moved(1, 2, 1_000, 0), 200, nowNs);
      times.learn(new Moved(1, 3, 1_000, 0), 2, nowNs);
    }
    double slow = times.ms(1, 2, 1_000, nowNs);
    nowNs += 10 * TransferTimes.UNSEEN_NS;
    assertThat(times.ms(1, 2, 1_000, nowNs)).isLessThan(slow / 2);
  }

  /** Of two workers that answer, one is reached ten times slower from the prefill worker. */
  @Test
  void thePairThatIsTenTimesSlowerIsAvoided() {
    try (FleetRouter router = ProjectedRouters.ofUnshared(2, () -> nowNs)) {
      Random random = new Random(5);
      int slow = 0;
      for (int i = 0; i < 120; i++) {
        Placement placed = place(router, PREFILL);
        boolean isSlow = placed.rank().workerId() == 1;
        slow += isSlow && i >= 60 ? 1 : 0;
        serve(router, placed, 8 + 8_000 * (isSlow ? 10 : 1) * FAST * noise(random));
      }
      assertThat(slow).isLessThanOrEqualTo(3);
      double near = transferMs(router, 0);
      assertThat(near).isCloseTo(8_000 * FAST, within(4.0));
      assertThat(transferMs(router, 1)).isGreaterThan(4 * near);
      router.removeRank(new RankId(1, 0));
      router.addRank(new RankId(1, 0), RankCapacity.UNKNOWN);
      assertThat(transferMs(router, 1)).isLessThan(4 * near);
    }
  }

  @Test
  void answersThatDoNotStreamTeachNothing() {
    try (FleetRouter router = ProjectedRouters.ofUnshared(2, () -> nowNs)) {
      for (int i = 0; i < 40; i++) {
        FleetRequest request = request(PREFILL).streams(false).build();
        serve(router, ((RouteOutcome.Placed) router.route(request)).placement(), 5_000);
      }
      assertThat(transferMs(router, 0)).isCloseTo(8_000 * FAST, within(0.1));
    }
  }

  /** Their first tokens come after prompts that are computed at the same time. */
  @Test
  void legsThatAreSentAtOnceTeachNothing() {
    try (FleetRouter router = ProjectedRouters.ofUnshared(2, () -> nowNs)) {
      for (int i = 0; i < 100; i++) {
        serve(router, place(router, FleetRequest.NO_WORKER), 2_000);
      }
      assertThat(transferMs(router, 0)).isCloseTo(8_000 * FAST, within(0.1));
      FirstTokenForecast forecast =
          ((RouteOutcome.Placed) router.preview(request(PREFILL).build()))
              .placement()
              .candidates()
              .get(0)
              .firstToken();
      assertThat(forecast.highMs()).isLessThan(20 * forecast.expectedMs());
    }
  }

  /** The step model must not take transfers for steps: what follows has no transfer. */
  @Test
  void slowTransfersAreNotTakenForSlowRanks() {
    double afterFast = computeAfter(10);
    assertThat(computeAfter(2_000)).isCloseTo(afterFast, within(0.15 * afterFast));
  }

  private double computeAfter(double transferMs) {
    try (FleetRouter router = ProjectedRouters.ofUnshared(2, () -> nowNs)) {
      for (int i = 0; i < 60; i++) {
        serve(router, place(router, PREFILL), transferMs);
      }
      return compute(router);
    }
  }

  private double compute(FleetRouter router) {
    FleetRequest whole = FleetRequest.builder(++requests, unshared(requests, 8_000)).build();
    Placement placed = ((RouteOutcome.Placed) router.preview(whole)).placement();
    CandidateCost cost = placed.candidates().get(0);
    assertThat(cost.terms()).doesNotContainKey("transfer");
    return cost.terms().get("compute");
  }

  private static double noise(Random random) {
    return Math.exp(0.3 * random.nextGaussian());
  }

  private FleetRequestBuilder request(long prefill) {
    return FleetRequest.builder(++requests, unshared(requests, 8_000))
        .generationOnly(true)
        .prefilledBy(prefill)
        .overrides(COMPUTED);
  }

  private Placement place(FleetRouter router, long prefill) {
    return ((RouteOutcome.Placed) router.route(request(prefill).build())).placement();
  }

  private void serve(FleetRouter router, Placement placed, double firstMs) {
    nowNs += (long) (firstMs * 1e6);
    router.onTokens(placed.attempt(), 1);
    for (int token = 0; token < 3; token++) {
      nowNs += 10_000_000;
      router.onTokens(placed.attempt(), 1);
    }
    router.onFinished(placed.attempt(), true);
    nowNs += 100_000_000;
  }

  /** The term for a further request from the same prefill worker. */
  private double transferMs(FleetRouter router, int worker) {
    RouteOutcome previewed = router.preview(request(PREFILL).build());
    Placement placement = ((RouteOutcome.Placed) previewed).placement();
    return placement.candidates().get(worker).terms().get("transfer");
  }
}
