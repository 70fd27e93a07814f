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
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hours of virtual time with the same requests in each: the router must not become worse. */
class LongHoursTest {

  private static final int HOURS = LongRuns.cases(3, 48);
  private static final double NS_PER_MS = 1e6;
  private static final double HOUR_NS = 3.6e12;
  private static final int ENGINES = 8;
  private static final int DECODE_STEPS = 20; // reported for each prompt
  private static final double LOAD = 0.6;

  /** Engines take so much longer than published that an hour has only some thousand requests. */
  private static final double SLOW = 16;

  private record FirstToken(long atNs, long attempt, ForwardPass step, RankId rank) {}

  private final PriorityQueue<FirstToken> firstTokens =
      new PriorityQueue<>(Comparator.comparingLong(FirstToken::atNs));
  private final long[] freeNs = new long[ENGINES];
  private Random noises = new Random(2);
  private long nowNs;
  private long ids;

  private static double factor(int engine) {
    return SLOW * (engine < ENGINES / 2 ? 1 : 1.8);
  }

  private static double trueMs(int engine, int tokens) {
    return factor(engine) * StepTiming.DEFAULT.prefillMs(tokens * (tokens / 2.0), tokens);
  }

  private double noise() {
    return Math.exp(0.2 * noises.nextGaussian());
  }

  /** The p95 of the time to first token in one hour, in milliseconds. */
  private double hour(FleetRouter router, boolean reports) {
    Random random = new Random(1); // the same requests and times in each hour
    noises = new Random(2);
    double[] times = new double[1_024];
    int count = 0;
    double meanMs = trueMs(0, 4_200) * ENGINES / (ENGINES / 2.0 * (1 + 1 / 1.8));
    double endNs = nowNs + HOUR_NS;
    while (true) {
      double gapMs = -Math.log(1 - random.nextDouble()) * meanMs / ENGINES / LOAD;
      long arrivalNs = nowNs + Math.round(gapMs * NS_PER_MS);
      if (arrivalNs > endNs) {
        break;
      }
      while (!firstTokens.isEmpty() && firstTokens.peek().atNs() <= arrivalNs) {
        report(router, firstTokens.remove(), reports);
      }
      nowNs = arrivalNs;
      int[] prompt = new int[200 + random.nextInt(8_000)];
      prompt[0] = (int) ++ids;
      RouteOutcome outcome = router.route(FleetRequest.builder(ids, Prompt.of(prompt)).build());
      Placement placement = ((RouteOutcome.Placed) outcome).placement();
      int engine = (int) placement.rank().workerId();
      double ms = trueMs(engine, prompt.length) * noise();
      freeNs[engine] = Math.max(nowNs, freeNs[engine]) + Math.round(ms * NS_PER_MS);
      ForwardPass step = new ForwardPass(Math.round(ms * NS_PER_MS), 1, prompt.length, 0, 0, 0);
      firstTokens.add(new FirstToken(freeNs[engine], placement.attempt(), step, placement.rank()));
      times = count == times.length ? Arrays.copyOf(times, 2 * count) : times;
      times[count++] = (freeNs[engine] - nowNs) / NS_PER_MS;
    }
    Arrays.sort(times, 0, count);
    return times[count * 95 / 100];
  }

  private void report(FleetRouter router, FirstToken first, boolean reports) {
    nowNs = first.atNs();
    router.onTokens(first.attempt(), 1);
    if (reports) {
      router.onForwardPass(first.rank(), first.step());
      double decodeMs = factor((int) first.rank().workerId()) * StepTiming.DEFAULT.decodeMs(50_000);
      for (int i = 0; i < DECODE_STEPS; i++) {
        long ns = Math.round(decodeMs * noise() * NS_PER_MS);
        router.onForwardPass(first.rank(), new ForwardPass(ns, 0, 0, 0, 4, 50_000));
      }
    }
    nowNs++;
    router.onTokens(first.attempt(), 1);
    router.onFinished(first.attempt(), true);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theLastHourIsLikeTheSecond(boolean reports) {
    try (FleetRouter router = ProjectedRouters.ofUnshared(ENGINES, () -> nowNs)) {
      double second = 0;
      double last = 0;
      for (int hour = 0; hour < HOURS; hour++) {
        last = hour(router, reports);
        second = hour == 1 ? last : second;
      }
      System.out.printf("p95 of hour 2: %.0f ms, of hour %d: %.0f ms%n", second, HOURS, last);
      assertThat(last / second).isBetween(0.97, 1.03);
    }
  }
}
