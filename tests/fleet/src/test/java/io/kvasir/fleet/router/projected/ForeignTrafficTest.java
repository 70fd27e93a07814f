package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.testing.harness.LongRuns;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Engines that also serve prompts that bypass the router. They appear as slower engines: the router
 * is about as good as one that knows the share of its time that each engine spends on them.
 */
class ForeignTrafficTest {

  private static final int ENGINES = 8;
  private static final int REQUESTS = 12_000;
  private static final int WARM_UP = 500;
  private static final int MOST_TOKENS = 4_000;
  private static final double NS_PER_MS = 1e6;
  private static final long TOKEN_NS = 10_000_000;
  private static final double MEAN_MS = workMs(200 + MOST_TOKENS / 2);

  /** The first token of an answer, or the second one, with which it ends. */
  private record Event(long atNs, long attempt, boolean first) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs));
  private final long[] freeNs = new long[ENGINES];
  private final long[] knownFreeNs = new long[ENGINES];
  private final long[] nextForeignNs = new long[ENGINES];
  private long nowNs;

  /** Engines with other traffic, and the share of their time that it takes. */
  private int foreignEngines;

  private double foreignShare;

  /** The traffic comes and goes after this time; 0 if it stays. */
  private double onSeconds;

  private static double workMs(int tokens) {
    return 33 + 0.0076 * tokens;
  }

  private static long exponentialNs(Random random, double meanMs) {
    return Math.round(-Math.log(1 - random.nextDouble()) * meanMs * NS_PER_MS);
  }

  private boolean isOn(long atNs) {
    return onSeconds == 0 || (long) (atNs / 1e9 / onSeconds) % 2 == 0;
  }

  private void serveForeign(Random random) {
    for (int engine = 0; engine < foreignEngines; engine++) {
      while (nextForeignNs[engine] <= nowNs) {
        long atNs = nextForeignNs[engine];
        if (isOn(atNs)) {
          long ns = Math.round(workMs(200 + random.nextInt(MOST_TOKENS)) * NS_PER_MS);
          freeNs[engine] = Math.max(freeNs[engine], atNs) + ns;
        }
        nextForeignNs[engine] = atNs + exponentialNs(random, MEAN_MS / foreignShare);
      }
    }
  }

  private void play(FleetRouter router, long untilNs) {
    while (!events.isEmpty() && events.peek().atNs() <= untilNs) {
      Event event = events.remove();
      nowNs = event.atNs();
      router.onTokens(event.attempt(), 1);
      if (event.first()) {
        events.add(new Event(nowNs + TOKEN_NS, event.attempt(), false));
      } else {
        router.onFinished(event.attempt(), true);
      }
    }
    nowNs = untilNs;
  }

  /** The 95th percentile of the times to first token, in milliseconds. */
  private double p95(long seed, double load, FleetRouter router, IntUnaryOperator choice) {
    Random random = new Random(seed);
    Random foreign = new Random(seed + 1_000);
    Arrays.fill(freeNs, 0);
    Arrays.fill(knownFreeNs, 0);
    Arrays.fill(nextForeignNs, 0);
    events.clear();
    nowNs = 0;
    double engines = ENGINES - foreignEngines * foreignShare * (onSeconds == 0 ? 1 : 0.5);
    double[] firstMs = new double[REQUESTS - WARM_UP];
    for (int i = 0; i < REQUESTS; i++) {
      int tokens = 200 + random.nextInt(MOST_TOKENS);
      play(router, nowNs + exponentialNs(random, MEAN_MS / (engines * load)));
      serveForeign(foreign);
      int engine = choice.applyAsInt(tokens);
      double noise = Math.exp(0.1 * random.nextGaussian());
      long ns = Math.round(workMs(tokens) * noise * NS_PER_MS);
      freeNs[engine] = Math.max(nowNs, freeNs[engine]) + ns;
      knownFreeNs[engine] = Math.max(nowNs, knownFreeNs[engine]) + ns;
      events.add(new Event(freeNs[engine], i + 1L, true));
      if (i >= WARM_UP) {
        firstMs[i - WARM_UP] = (freeNs[engine] - nowNs) / NS_PER_MS;
      }
    }
    Arrays.sort(firstMs);
    return firstMs[firstMs.length * 95 / 100];
  }

  /** Routes prompts that share nothing; attempts are numbered from 1. */
  private static IntUnaryOperator by(FleetRouter router) {
    int[] requests = {0};
    return tokens -> {
      int id = ++requests[0];
      RouteOutcome outcome =
          router.route(FleetRequest.builder(id, ProjectedRouters.unshared(id, tokens)).build());
      Placement placement = ((RouteOutcome.Placed) outcome).placement();
      return (int) placement.rank().workerId();
    };
  }

  /**
   * The engine with the earliest first token by the router's own prompts and a share of each
   * engine's time; ties are dealt in turn.
   */
  private IntUnaryOperator byShare(double share) {
    int[] turn = {0};
    return tokens -> {
      int best = 0;
      double leastNs = Double.POSITIVE_INFINITY;
      turn[0]++;
      for (int i = 0; i < ENGINES; i++) {
        int engine = (turn[0] + i) % ENGINES;
        double busy = engine < foreignEngines && isOn(nowNs) ? share : 0;
        double ownNs = Math.max(0, knownFreeNs[engine] - nowNs) + workMs(tokens) * NS_PER_MS;
        double waitNs = busy / (1 - busy) * MEAN_MS * 0.6 * NS_PER_MS; // M/G/1
        double ns = ownNs / (1 - busy) + waitNs;
        if (ns < leastNs) {
          leastNs = ns;
          best = engine;
        }
      }
      return best;
    };
  }

  private double meanP95(double load, boolean learns, double share) {
    return LongStream.range(0, LongRuns.cases(1, 3))
        .mapToDouble(
            seed -> {
              try (FleetRouter router = ProjectedRouters.ofUnshared(ENGINES, () -> nowNs)) {
                return p95(seed, load, router, learns ? by(router) : byShare(share));
              }
            })
        .average()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "1,0.6,0,0.6",
    "1,0.6,0,0.8",
    "4,0.6,0,0.6",
    "4,0.6,0,0.8",
    "4,0.6,2,0.6",
    "4,0.6,20,0.6"
  })
  void isAboutAsGoodAsWithTheTruth(int engines, double share, double seconds, double load) {
    foreignEngines = engines;
    foreignShare = share;
    onSeconds = seconds;
    double learned = meanP95(load, true, 0);
    assertThat(learned / meanP95(load, false, share)).isLessThan(1.06);
    assertThat(learned / meanP95(load, false, 0)).isLessThan(0.7);
  }
}
