package io.kvasir.fleet.router.cost;

import static io.kvasir.fleet.router.booking.RouterFixture.placement;
import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static io.kvasir.fleet.router.booking.RouterFixture.refusal;
import static io.kvasir.fleet.router.booking.RouterFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.booking.GivenIndex;
import io.kvasir.fleet.router.booking.RouterFixture;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Blocks have 4 tokens. */
class PolledRouterTest {

  private static final int BLOCK = RouterFixture.TOKENS_PER_BLOCK;

  private final GivenIndex index = new GivenIndex();

  private PolledRouter router(int ranks) {
    PolledRouter router = new PolledRouter("polled", index, true, RouterFixture.setup(() -> 0));
    for (int i = 0; i < ranks; i++) {
      assertThat(router.addRank(rank(i), RankCapacity.UNKNOWN)).isTrue();
    }
    return router;
  }

  private static Placement placed(PolledRouter router, long id, int tokens) {
    return placement(router.route(request(id, tokens).build()));
  }

  @Test
  void aFullMatchOutweighsActiveBlocksAndWaitingRequestsTogether() {
    try (PolledRouter router = router(3)) {
      index.hold(rank(2), 4);
      router.onMetrics(rank(2), new EngineMetrics(90, 100, 5));
      assertThat(placed(router, 1, 4 * BLOCK).rank()).as("2 - 0.9 - 1 > 0").isEqualTo(rank(2));
    }
  }

  @Test
  void aShorterMatchDoesNot() {
    try (PolledRouter router = router(2)) {
      index.hold(rank(1), 3);
      router.onMetrics(rank(1), new EngineMetrics(60, 100, 5));
      Placement placement = placed(router, 1, 4 * BLOCK);
      assertThat(placement.rank()).as("1.5 - 0.6 - 1 < 0").isEqualTo(rank(0));
      assertThat(placement.candidates())
          .extracting(CandidateCost::terms)
          .containsExactly(
              Map.of("match", -0.0, "activeBlocks", 0.0, "waitingRequests", 0.0),
              Map.of("match", -1.5, "activeBlocks", 0.6, "waitingRequests", 1.0));
    }
  }

  @Test
  void placementsCountOnTopUntilTheNextMetricsReplaceThem() {
    try (PolledRouter router = router(2)) {
      router.onMetrics(rank(0), new EngineMetrics(20, 100, 2));
      index.hold(rank(0), 1);
      RankFilter pin = RankFilter.pin(rank(0));
      placement(router.route(request(1, 4 * BLOCK + 1).filter(pin).build()));
      placement(router.route(request(2, 2 * BLOCK).filter(pin).build()));
      index.hold(rank(0), 0);
      assertThat(seen(router, 3, 0)).as("20 + (5 - 1) + (2 - 1)").isEqualTo("25 of load 0.25, 1.0");
      router.onMetrics(rank(1), new EngineMetrics(0, 0, 8));
      assertThat(seen(router, 4, 0)).as("4 of 8 wait").isEqualTo("25 of load 0.25, 0.5");
      router.onMetrics(rank(0), new EngineMetrics(20, 100, 2));
      assertThat(seen(router, 5, 0)).as("nothing new").isEqualTo("20 of load 0.2, 0.25");
    }
  }

  /**
   * The load that the router counts for a rank, observed through a request placed on the other
   * rank.
   */
  private static String seen(PolledRouter router, long id, int worker) {
    Placement placement = placed(router, id, 0);
    Map<String, Double> terms = placement.candidates().get(worker).terms();
    long active = Math.round(terms.get("activeBlocks") * 100);
    return active + " of load " + terms.get("activeBlocks") + ", " + terms.get("waitingRequests");
  }

  @Test
  void aBurstDoesNotHerd() {
    try (PolledRouter router = router(2)) {
      router.onMetrics(rank(0), new EngineMetrics(0, 100, 0));
      router.onMetrics(rank(1), new EngineMetrics(0, 100, 0));
      Placement first = placed(router, 1, 4 * BLOCK);
      assertThat(placed(router, 2, 4 * BLOCK).rank()).isNotEqualTo(first.rank());
    }
  }

  @Test
  void theRequestsIdDecidesAmongEquals() {
    try (PolledRouter router = router(8);
        PolledRouter again = router(8)) {
      for (int id = 0; id < 20; id++) {
        assertThat(placed(router, id, BLOCK).rank()).isEqualTo(placed(again, id, BLOCK).rank());
        for (int i = 0; i < 8; i++) {
          router.onMetrics(rank(i), EngineMetrics.NONE);
          again.onMetrics(rank(i), EngineMetrics.NONE);
        }
      }
    }
  }

  @Test
  void attemptsAndRefusalsAreThoseOfEveryRouter() {
    try (PolledRouter router = router(1)) {
      Placement placement = placed(router, 1, 9);
      assertThat(refusal(router.route(request(1, 9).build()))).isEqualTo(Refusal.DUPLICATE_REQUEST);
      PredictedLoads loads = new PredictedLoads();
      router.loads(loads);
      assertThat(loads.activeRequests(0)).isEqualTo(1);
      assertThat(router.onTokens(placement.attempt(), 3)).isTrue();
      assertThat(router.onPrefillDone(placement.attempt())).isTrue();
      assertThat(router.onFinished(placement.attempt(), true)).isTrue();
      assertThat(router.onFinished(placement.attempt(), true)).isFalse();
      assertThat(router.removeRank(rank(0))).isTrue();
      assertThat(refusal(router.route(request(1, 9).build()))).isEqualTo(Refusal.NO_ENDPOINT);
    }
  }

  /** The score formula in the comment of {@link PolledRouter}. */
  @Test
  void agreesWithTheFormula() {
    long seed = Long.getLong("kvasir.test.seed", 20);
    SplittableRandom random = new SplittableRandom(seed);
    int ranks = 4;
    try (PolledRouter router = router(ranks)) {
      for (int id = 0; id < 2_000; id++) {
        EngineMetrics[] metrics = new EngineMetrics[ranks];
        int[] held = new int[ranks];
        int mostWaiting = 0;
        for (int i = 0; i < ranks; i++) {
          metrics[i] = new EngineMetrics(random.nextInt(50), random.nextInt(60), random.nextInt(4));
          held[i] = random.nextInt(6);
          router.onMetrics(rank(i), metrics[i]);
          index.hold(rank(i), held[i]);
          mostWaiting = Math.max(mostWaiting, metrics[i].waitingRequests());
        }
        int tokens = 1 + random.nextInt(40);
        CostPick pick = new CostPick(ranks, id);
        for (int i = 0; i < ranks; i++) {
          double match = (double) (Math.min(held[i], tokens / BLOCK) * BLOCK) / tokens;
          double active =
              metrics[i].totalBlocks() == 0
                  ? 0
                  : (double) metrics[i].activeBlocks() / metrics[i].totalBlocks();
          double waiting =
              mostWaiting == 0 ? 0 : (double) metrics[i].waitingRequests() / mostWaiting;
          pick.add(-(2 * match - active - waiting));
        }
        assertThat(placed(router, id, tokens).rank())
            .as("seed %d, request %d", seed, id)
            .isEqualTo(rank(pick.lowest()));
      }
    }
  }
}
