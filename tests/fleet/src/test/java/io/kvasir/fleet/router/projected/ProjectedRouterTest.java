package io.kvasir.fleet.router.projected;

import static io.kvasir.fleet.router.projected.ProjectedRouters.prompt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProjectedRouterTest {

  private static final long MS = 1_000_000;
  private static final int BLOCK = ProjectedRouters.TOKENS_PER_BLOCK;
  private final List<FleetRouter> open = new ArrayList<>();
  private long nowNs;
  private long ids;

  private FleetRouter router(int ranks) {
    return router(ranks, Map.of("explain", true));
  }

  private FleetRouter router(int ranks, Map<String, Object> args) {
    FleetRouter router = ProjectedRouters.of(ranks, args, () -> nowNs);
    open.add(router);
    return router;
  }

  @AfterEach
  void close() {
    open.forEach(FleetRouter::close);
  }

  private Placement place(FleetRouter router, int[] prompt) {
    return ProjectedRouters.place(router, FleetRequest.builder(++ids, Prompt.of(prompt)).build());
  }

  private static Map<String, Double> terms(Placement placement, long worker) {
    for (CandidateCost cost : placement.candidates()) {
      if (cost.rank().workerId() == worker) {
        return cost.terms();
      }
    }
    throw new AssertionError("no candidate " + worker);
  }

  @Test
  void termsAddUpAndAboutTheLowestSumIsChosen() {
    FleetRouter router = router(4);
    for (int i = 0; i < 50; i++) {
      nowNs += 20 * MS;
      FleetRequest request =
          FleetRequest.builder(++ids, Prompt.of(prompt(i % 5, 100 + 300 * (i % 7))))
              .conversationId("c" + i % 9)
              .build();
      Placement placement = ProjectedRouters.place(router, request);
      double lowest = Double.POSITIVE_INFINITY;
      double tolerance = 0;
      for (CandidateCost cost : placement.candidates()) {
        assertThat(cost.terms().keySet())
            .containsExactly("queue", "compute", "pace", "others", "work", "room", "lockstep");
        double sum = cost.terms().values().stream().mapToDouble(term -> term).sum();
        assertThat(cost.cost()).isCloseTo(sum, within(1e-9));
        if (cost.cost() < lowest) {
          lowest = cost.cost();
          tolerance = 0.05 * cost.terms().getOrDefault("compute", 0.0);
        }
      }
      Map<String, Double> chosen = terms(placement, placement.rank().workerId());
      assertThat(placement.terms()).isEqualTo(chosen);
      assertThat(chosen.values().stream().mapToDouble(term -> term).sum())
          .isLessThanOrEqualTo(lowest + tolerance + 1e-9);
      router.onTokens(placement.attempt(), 1);
    }
  }

  @Test
  void aBurstGoesToTheShortestLine() {
    FleetRouter router = router(4);
    int[] perRank = new int[4];
    for (int i = 0; i < 12; i++) {
      perRank[(int) place(router, prompt(i, 4000)).rank().workerId()]++;
    }
    assertThat(perRank).containsOnly(3);
  }

  @Test
  void theLineShortensWithTimeAndEndsWithTheFirstToken() {
    FleetRouter router = router(2);
    Placement first = place(router, prompt(1, 8000));
    long worker = first.rank().workerId();
    Map<String, Double> compute = terms(first, worker);

    double full = terms(place(router, prompt(2, 8000)), worker).get("queue");
    assertThat(full).isCloseTo(compute.get("compute"), within(1e-9));
    nowNs += 50 * MS;
    assertThat(queueNow(router, worker)).isCloseTo(full - 50, within(1e-6));
    nowNs += 100 * MS;
    assertThat(queueNow(router, worker)).as("nearly over").isCloseTo(full / 10, within(1e-6));
    nowNs += 150 * MS;
    assertThat(queueNow(router, worker)).as("late").isCloseTo(300 - full, within(1e-6));
    router.onTokens(first.attempt(), 1);
    assertThat(queueNow(router, worker)).isZero();
  }

  private double queueNow(FleetRouter router, long worker) {
    RouteOutcome preview =
        router.preview(FleetRequest.builder(++ids, Prompt.of(prompt(9, 100))).build());
    assertThat(preview).isInstanceOf(RouteOutcome.Placed.class);
    return terms(((RouteOutcome.Placed) preview).placement(), worker).get("queue");
  }

  @Test
  void aHitIsWorthItsTimeAndNoMore() {
    FleetRouter router = router(2);
    Placement first = place(router, prompt(1, 8000));
    router.onTokens(first.attempt(), 1);
    router.onFinished(first.attempt(), true);
    nowNs += 500 * MS;

    Placement again = place(router, prompt(1, 8000));
    assertThat(again.rank()).isEqualTo(first.rank());
    for (int i = 2; i < 6; i++) { // the rank has work now
      ProjectedRouters.place(
          router,
          FleetRequest.builder(++ids, Prompt.of(prompt(i, 8000)))
              .filter(RankFilter.pin(first.rank()))
              .build());
    }
    assertThat(place(router, prompt(1, 8000)).rank()).isNotEqualTo(first.rank());
  }

  @Test
  void anAnswerThatComesAsAWholeTeachesNothing() {
    FleetRouter router = router(1);
    double before = computeNow(router);
    for (int i = 0; i < 200; i++) {
      Placement placement = place(router, prompt(i, 1000));
      nowNs += 5_000 * MS; // computed and generated
      router.onTokens(placement.attempt(), 300);
      router.onFinished(placement.attempt(), true);
    }
    assertThat(computeNow(router)).isEqualTo(before);
  }

  private double computeNow(FleetRouter router) {
    RouteOutcome preview =
        router.preview(FleetRequest.builder(++ids, Prompt.of(prompt(999, 4000))).build());
    return terms(((RouteOutcome.Placed) preview).placement(), 0).get("compute");
  }

  @Test
  void aPromptWithoutSignsOfLifeLeavesTheLine() {
    FleetRouter router = router(1);
    place(router, prompt(1, 8000));
    assertThat(queueNow(router, 0)).isGreaterThan(100);
    nowNs += 400_000 * MS;
    assertThat(queueNow(router, 0)).isZero();
  }

  @Test
  void learnsHowLongPromptsTakeAndWhichRankIsSlow() {
    FleetRouter router = router(2);
    double published = computeNow(router);
    Random random = new Random(5);
    for (int i = 0; i < 300; i++) {
      int tokens = 500 + random.nextInt(7000);
      Placement placement = place(router, prompt(i, tokens));
      long worker = placement.rank().workerId();
      double slow = worker == 1 ? 3 : 1.5;
      nowNs += Math.round(slow * (16.5 + 0.01518344 * tokens + 4.209989e-7 * tokens * tokens) * MS);
      router.onTokens(placement.attempt(), 1);
      nowNs += 5 * MS;
      router.onTokens(placement.attempt(), 1);
      router.onFinished(placement.attempt(), true);
    }
    RouteOutcome preview =
        router.preview(FleetRequest.builder(++ids, Prompt.of(prompt(999, 4000))).build());
    Placement placement = ((RouteOutcome.Placed) preview).placement();
    assertThat(terms(placement, 0).get("compute") / published).isBetween(1.3, 1.7);
    assertThat(placement.rank().workerId()).isZero();
  }

  @Test
  void aRankThatWasSlowIsTriedAgain() {
    FleetRouter router = router(2);
    for (int i = 0; i < 100; i++) {
      serve(router, place(router, prompt(i, 4000)), 1);
    }
    int slow = 0;
    for (int i = 0; i < 60; i++) {
      Placement placement = place(router, prompt(100 + i, 4000));
      slow = placement.rank().workerId() == 1 ? slow + 1 : slow;
      serve(router, placement, placement.rank().workerId() == 1 ? 3 : 1);
    }
    assertThat(slow).as("while it is slow").isBetween(1, 20);

    int again = 0;
    int late = 0;
    for (int second = 0; second < 600; second++) {
      nowNs += 1000 * MS;
      Placement placement = place(router, prompt(300 + second, 4000));
      boolean chosen = placement.rank().workerId() == 1;
      again += chosen && second < 10 ? 1 : 0;
      late += chosen && second >= 300 ? 1 : 0;
      serve(router, placement, 1);
    }
    assertThat(again).as("just after").isLessThanOrEqualTo(2);
    assertThat(late).as("when it has recovered").isBetween(100, 200);
  }

  /** The rank computes the prompt of a placement, given times slower than published. */
  private void serve(FleetRouter router, Placement placement, double slow) {
    nowNs += Math.round(slow * (16.5 + 0.01518344 * 4000 + 4.209989e-7 * 4000 * 4000) * MS);
    router.onTokens(placement.attempt(), 1);
    nowNs += 5 * MS;
    router.onTokens(placement.attempt(), 1);
    router.onFinished(placement.attempt(), true);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void equalHistoriesGiveEqualChoices(long seed) {
    assertThat(history(seed)).isEqualTo(history(seed)).hasSizeGreaterThan(500);
  }

  private List<String> history(long seed) {
    nowNs = 0;
    FleetRouter router = router(5);
    Random random = new Random(seed);
    List<String> placed = new ArrayList<>();
    List<Placement> running = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      nowNs += random.nextInt(30) * MS;
      int what = random.nextInt(4);
      if (what == 0 || running.isEmpty()) {
        FleetRequestBuilder request =
            FleetRequest.builder(
                i + 1, Prompt.of(prompt(random.nextInt(20), 50 + random.nextInt(3_000))));
        String id = random.nextBoolean() ? "c" + random.nextInt(30) : null;
        Placement placement = ProjectedRouters.place(router, request.conversationId(id).build());
        placed.add(placement.rank() + " " + placement.candidates());
        running.add(placement);
      } else if (what == 1) {
        router.onFinished(running.remove(random.nextInt(running.size())).attempt(), true);
      } else {
        router.onTokens(running.get(random.nextInt(running.size())).attempt(), 1);
      }
    }
    running.forEach(placement -> router.onFinished(placement.attempt(), false));
    isIdle(router);
    return placed;
  }

  private static void isIdle(FleetRouter router) {
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    for (int i = 0; i < loads.size(); i++) {
      assertThat(loads.activeBlocks(i) + loads.activePrefillTokens(i) + loads.activeRequests(i))
          .isZero();
    }
  }

  @Test
  void aFullPoolCostsTheTimeUntilBlocksAreFreed() {
    FleetRouter router = router(0);
    for (int rank = 0; rank < 2; rank++) {
      router.addRank(new RankId(rank, 0), new RankCapacity(100, 8192));
    }
    Placement ended = place(router, prompt(1, 320));
    Placement failed = place(router, prompt(1, 320));
    router.onFinished(failed.attempt(), false); // not an answer
    nowNs += 2_000 * MS;
    router.onTokens(ended.attempt(), 1);
    router.onFinished(ended.attempt(), true); // answers stay for two seconds
    Placement full = place(router, prompt(2, 80 * BLOCK));
    nowNs += 1_000 * MS;
    router.onTokens(full.attempt(), 1);

    Placement next = place(router, prompt(3, 40 * BLOCK));
    assertThat(next.rank()).isNotEqualTo(full.rank());
    assertThat(terms(next, full.rank().workerId()).get("room"))
        .as("21 blocks of 81 are missing, and what is to come of the answers")
        .isGreaterThan(2_000 * 21 / 81.0);
    assertThat(terms(next, next.rank().workerId()).get("room")).isZero();
  }

  @Test
  void aRankThatLeavesIsForgotten() {
    FleetRouter router = router(2);
    Placement first = place(router, prompt(1, 8000));
    router.removeRank(first.rank());
    assertThat(router.onTokens(first.attempt(), 1)).isFalse();
    router.addRank(first.rank(), RankCapacity.UNKNOWN);
    assertThat(queueNow(router, first.rank().workerId())).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"queue", "compute", "transfer", "pace", "others", "work", "room", "lockstep"})
  void aTermCanBeLeftOut(String omitted) {
    FleetRouter router = router(2, Map.of("explain", true, "omitted_term", omitted));

    Placement placement = place(router, prompt(1, 100));

    assertThat(terms(placement, 0)).hasSizeBetween(6, 7).doesNotContainKey(omitted);
    assertThat(placement.candidates().get(0).cost())
        .isCloseTo(
            terms(placement, 0).values().stream().mapToDouble(term -> term).sum(), within(1e-9));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kv_overlap_score_weight | 2 | kv_overlap_score_weight is not known to projected",
        "omitted_term | 1 | omitted_term must be one of queue, compute, transfer, pace, others,"
            + " work, room, lockstep",
      })
  void wrongArgsAreNamed(String key, String value, String message) {
    assertThatThrownBy(() -> router(1, Map.of(key, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }
}
