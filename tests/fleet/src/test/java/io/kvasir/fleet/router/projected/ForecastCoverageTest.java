package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that compute one prompt after another, with wrong priors and noise. */
class ForecastCoverageTest {

  private static final int RANKS = 4;
  private static final int REQUESTS = 6_000;
  private static final int WARM_UP = 1_000;
  private static final double NS_PER_MS = 1e6;
  private static final double SECOND_TOKEN_MS = 20;

  private long nowNs;

  /** What happens at a time: the first token of an attempt, or the second and last one. */
  private record Event(long atNs, long attempt, boolean first) {}

  @ParameterizedTest
  @ValueSource(doubles = {0.3, 0.6, 0.85})
  void ninetyPercentOfFirstTokensAreInTheInterval(double load) {
    for (long seed = 0; seed < 3; seed++) {
      assertThat(covered(load, seed)).as("seed " + seed).isBetween(0.87, 0.93);
    }
  }

  private double covered(double load, long seed) {
    Random random = new Random(seed);
    nowNs = 0;
    PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingLong(Event::atNs));
    long[] freeNs = new long[RANKS];
    int inside = 0;
    try (FleetRouter router = ProjectedRouters.of(RANKS, Map.of("explain", true), () -> nowNs)) {
      double meanMs = 0;
      for (int i = 0; i < REQUESTS; i++) {
        int tokens = 200 + random.nextInt(4_000);
        // Twice the published step, half of the published time of a token.
        double ms = (33 + 0.0076 * tokens) * Math.exp(0.1 * random.nextGaussian());
        meanMs += (ms - meanMs) / (i + 1);
        double gapMs = -Math.log(1 - random.nextDouble()) * meanMs / (RANKS * load);
        long arrivalNs = nowNs + Math.round(gapMs * NS_PER_MS);
        play(router, events, arrivalNs);
        nowNs = arrivalNs;
        int[] prompt = random.ints(tokens, 0, 30_000).toArray();
        Placement placement =
            ((RouteOutcome.Placed) router.route(FleetRequest.builder(i, Prompt.of(prompt)).build()))
                .placement();
        int rank = (int) placement.rank().workerId();
        long firstNs = Math.max(nowNs, freeNs[rank]) + Math.round(ms * NS_PER_MS);
        freeNs[rank] = firstNs;
        FirstTokenForecast forecast = forecast(placement);
        double firstMs = (firstNs - nowNs) / NS_PER_MS;
        inside +=
            i >= WARM_UP && forecast.lowMs() <= firstMs && firstMs <= forecast.highMs() ? 1 : 0;
        events.add(new Event(firstNs, placement.attempt(), true));
      }
    }
    return (double) inside / (REQUESTS - WARM_UP);
  }

  private void play(FleetRouter router, PriorityQueue<Event> events, long untilNs) {
    while (!events.isEmpty() && events.peek().atNs() <= untilNs) {
      Event event = events.remove();
      nowNs = event.atNs();
      router.onTokens(event.attempt(), 1);
      if (event.first()) {
        long secondNs = nowNs + Math.round(SECOND_TOKEN_MS * NS_PER_MS);
        events.add(new Event(secondNs, event.attempt(), false));
      } else {
        router.onFinished(event.attempt(), true);
      }
    }
  }

  private static FirstTokenForecast forecast(Placement placement) {
    for (CandidateCost candidate : placement.candidates()) {
      if (candidate.rank().equals(placement.rank())) {
        return Objects.requireNonNull(candidate.firstToken());
      }
    }
    throw new AssertionError("the choice is no candidate");
  }
}
