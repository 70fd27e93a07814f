package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.timing.ForwardPass;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Eight ranks of two classes, one of which slows down by half in the middle, and coefficients that
 * differ from the published ones: against the same score by the true times.
 */
class UnequalRanksTest {

  private static final int RANKS = 8;
  private static final int REQUESTS = 8_000;
  private static final int WARM_UP = 500;
  private static final double STEP_MS = 10;
  private static final double NS_PER_MS = 1e6;

  /** A token; the first one of an answer has the step that computed the prompt. */
  private record Event(long atNs, long attempt, int rank, @Nullable ForwardPass step) {}

  /** Chooses a rank for a prompt. */
  private interface Chooser {
    int choose(int request, int tokens);
  }

  /** A prompt on a rank: when it began, when it ends, and how long it should take. */
  private record Prefill(long beganNs, long endNs, double expectedMs) {}

  private final List<Deque<Prefill>> prompts = new ArrayList<>();
  private final long[] freeNs = new long[RANKS];
  private final int[] chosen = new int[RANKS];
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs));
  private long nowNs;
  private boolean slowed;
  private boolean reports;

  /** Half of the ranks take 1.8 times as long, and one of the others twice as long once slowed. */
  private double trueMs(int rank, int tokens) {
    return speed(rank) * workMs(tokens);
  }

  private double speed(int rank) {
    return (rank % 2 == 0 ? 1 : 1.8) * (rank == 0 && slowed ? 2 : 1);
  }

  private static double workMs(int tokens) {
    return 33 + 0.0076 * tokens;
  }

  /** The 95th percentile of the times to first token, in milliseconds. */
  private double p95(long seed, double load, Chooser chooser, FleetRouter router) {
    Random random = new Random(seed);
    Arrays.fill(freeNs, 0);
    Arrays.fill(chosen, 0);
    prompts.clear();
    for (int rank = 0; rank < RANKS; rank++) {
      prompts.add(new ArrayDeque<>());
    }
    events.clear();
    nowNs = 0;
    double capacity = RANKS / 2.0 * (1 + 1 / 1.8); // ranks of the faster class
    double meanMs = workMs(2_200);
    double[] firstMs = new double[REQUESTS - WARM_UP];
    for (int i = 0; i < REQUESTS; i++) {
      slowed = i >= REQUESTS / 2;
      int tokens = 200 + random.nextInt(4_000);
      double noise = Math.exp(0.1 * random.nextGaussian());
      double gapMs = -Math.log(1 - random.nextDouble()) * meanMs / (capacity * load);
      long arrivalNs = nowNs + Math.round(gapMs * NS_PER_MS);
      play(router, arrivalNs);
      nowNs = arrivalNs;
      int rank = chooser.choose(i, tokens);
      long beganNs = Math.max(nowNs, freeNs[rank]);
      long stepNs = Math.round(trueMs(rank, tokens) * noise * NS_PER_MS);
      freeNs[rank] = beganNs + stepNs;
      prompts.get(rank).add(new Prefill(beganNs, freeNs[rank], trueMs(rank, tokens)));
      if (i >= WARM_UP) {
        firstMs[i - WARM_UP] = (freeNs[rank] - nowNs) / NS_PER_MS;
      }
      ForwardPass step = new ForwardPass(stepNs, 1, tokens, 0, 0, 0);
      events.add(new Event(freeNs[rank], i + 1L, rank, step));
    }
    Arrays.sort(firstMs);
    return firstMs[firstMs.length * 95 / 100];
  }

  private void play(FleetRouter router, long untilNs) {
    while (!events.isEmpty() && events.peek().atNs() <= untilNs) {
      Event event = events.remove();
      nowNs = event.atNs();
      router.onTokens(event.attempt(), 1);
      if (event.step() != null) {
        if (reports) {
          router.onForwardPass(new RankId(event.rank(), 0), event.step());
        }
        long secondNs = nowNs + Math.round(speed(event.rank()) * STEP_MS * NS_PER_MS);
        events.add(new Event(secondNs, event.attempt(), event.rank(), null));
      } else {
        router.onFinished(event.attempt(), true);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0.3,false", "0.6,false", "0.8,false", "0.3,true", "0.6,true", "0.8,true"})
  void isNearlyAsGoodAsWithTheTruth(double load, boolean enginesReportSteps) {
    reports = enginesReportSteps;
    double learned = 0;
    double known = 0;
    for (long seed = 0; seed < LongRuns.cases(2, 4); seed++) {
      try (FleetRouter router = ProjectedRouters.ofUnshared(RANKS, () -> nowNs)) {
        learned +=
            p95(
                seed,
                load,
                (request, tokens) -> {
                  Prompt prompt = ProjectedRouters.unshared(request, tokens);
                  RouteOutcome outcome =
                      router.route(FleetRequest.builder(request, prompt).build());
                  Placement placement = ((RouteOutcome.Placed) outcome).placement();
                  assertThat(placement.attempt()).isEqualTo(request + 1L);
                  return (int) placement.rank().workerId();
                },
                router);
      }
      try (FleetRouter unused = ProjectedRouters.ofUnshared(RANKS, () -> nowNs)) {
        known += p95(seed, load, (request, tokens) -> trulyBest(request, tokens), unused);
      }
    }
    assertThat(learned / known).isLessThan(1.05);
  }

  private double expectedQueueMs(int rank) {
    Deque<Prefill> line = prompts.get(rank);
    while (!line.isEmpty() && line.peek().endNs() <= nowNs) {
      line.remove();
    }
    double ms = 0;
    for (Prefill prompt : line) {
      double doneMs = Math.max(0, nowNs - prompt.beganNs()) / NS_PER_MS;
      ms += Math.max(0.1 * prompt.expectedMs(), prompt.expectedMs() - doneMs);
    }
    return ms;
  }

  /** Scores without the cost to others, which is the same on all ranks; ties as in the policy. */
  private int trulyBest(int request, int tokens) {
    double[] scores = new double[RANKS];
    int lowest = 0;
    for (int rank = 0; rank < RANKS; rank++) {
      scores[rank] = expectedQueueMs(rank) + trueMs(rank, tokens) + 8 * speed(rank) * STEP_MS;
      lowest = scores[rank] < scores[lowest] ? rank : lowest;
    }
    int best = lowest;
    for (int rank = 0; rank < RANKS; rank++) {
      if (scores[rank] <= scores[lowest] + 0.05 * trueMs(lowest, tokens)
          && chosen[rank] < chosen[best]) {
        best = rank;
      }
    }
    chosen[best] = request + 1;
    return best;
  }
}
