package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Engines that compute one prompt after another, and whose answers come as a whole, some seconds
 * after their first token: against the same requests with answers that stream.
 */
class WholeAnswersTest {

  private static final int RANKS = 8;
  private static final int REQUESTS = 6_000;
  private static final int WARM_UP = 500;
  private static final double NS_PER_MS = 1e6;
  private static final double ANSWER_MS = 4_000;
  private static final int ANSWER_TOKENS = 200;

  /** What is reported of answers. */
  private enum Reports {
    /** Their tokens, as they come. */
    STREAMS,
    /** Of every second one its tokens, of the others their end. */
    MIXED,
    /** Their end, without a notice that tokens do not come before. */
    UNEXPECTED_WHOLE,
    /** Their end. */
    WHOLE,
    /** Their end, and that of their prompts. */
    WHOLE_AND_PROMPT,
    /** Their end, and the begin of their prompt's only step: when vLLM publishes its blocks. */
    WHOLE_AND_STEP
  }

  private enum What {
    BEGIN,
    FIRST_TOKEN,
    SECOND_TOKEN,
    END
  }

  private record Event(long atNs, long attempt, What what) {}

  /** The p95 of answers that stream, by load and factor. */
  private static final Map<List<Double>, Double> STREAMED = new ConcurrentHashMap<>();

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs));
  private long nowNs;

  /** The p95 of the times to first token, in milliseconds, where work takes a factor longer. */
  private double p95(double load, double factor, Reports reports) {
    Random random = new Random(1);
    events.clear();
    long[] freeNs = new long[RANKS];
    double[] firstMs = new double[REQUESTS - WARM_UP];
    nowNs = 0;
    try (FleetRouter router = ProjectedRouters.of(RANKS, Map.of(), () -> nowNs)) {
      for (int i = 0; i < REQUESTS; i++) {
        int tokens = 200 + random.nextInt(8_000);
        double ms = factor * (33 + 0.0076 * tokens) * Math.exp(0.1 * random.nextGaussian());
        double meanMs = factor * (33 + 0.0076 * 4_200);
        nowNs += Math.round(-Math.log(1 - random.nextDouble()) * meanMs / RANKS / load * NS_PER_MS);
        long arrivalNs = nowNs;
        while (!events.isEmpty() && events.peek().atNs() <= arrivalNs) {
          Event event = events.remove();
          nowNs = event.atNs();
          report(router, event, reports);
        }
        nowNs = arrivalNs;
        int[] prompt = random.ints(tokens, 0, 30_000).toArray();
        RouteOutcome outcome =
            router.route(
                FleetRequest.builder(i, Prompt.of(prompt))
                    .streams(reports == Reports.UNEXPECTED_WHOLE || streams(i + 1, reports))
                    .build());
        Placement placement = ((RouteOutcome.Placed) outcome).placement();
        int rank = (int) placement.rank().workerId();
        long beginNs = Math.max(nowNs, freeNs[rank]);
        freeNs[rank] = beginNs + Math.round(ms * NS_PER_MS);
        events.add(new Event(beginNs, placement.attempt(), What.BEGIN));
        events.add(new Event(freeNs[rank], placement.attempt(), What.FIRST_TOKEN));
        if (i >= WARM_UP) {
          firstMs[i - WARM_UP] = (freeNs[rank] - nowNs) / NS_PER_MS;
        }
      }
    }
    Arrays.sort(firstMs);
    return firstMs[firstMs.length * 95 / 100];
  }

  private static boolean streams(long attempt, Reports reports) {
    return reports == Reports.STREAMS || (reports == Reports.MIXED && attempt % 2 == 0);
  }

  private void report(FleetRouter router, Event event, Reports reports) {
    long attempt = event.attempt();
    boolean streams = streams(attempt, reports);
    switch (event.what()) {
      case BEGIN -> {
        if (reports == Reports.WHOLE_AND_STEP) {
          router.onPrefillDone(attempt);
        }
      }
      case FIRST_TOKEN -> {
        if (streams) {
          router.onTokens(attempt, 1);
        } else if (reports == Reports.WHOLE_AND_PROMPT) {
          router.onPrefillDone(attempt);
        }
        long secondNs = nowNs + Math.round(ANSWER_MS / ANSWER_TOKENS * NS_PER_MS);
        events.add(new Event(secondNs, attempt, What.SECOND_TOKEN));
        events.add(new Event(nowNs + Math.round(ANSWER_MS * NS_PER_MS), attempt, What.END));
      }
      case SECOND_TOKEN -> {
        if (streams) {
          router.onTokens(attempt, 1);
        }
      }
      case END -> {
        router.onTokens(attempt, streams ? ANSWER_TOKENS - 2 : ANSWER_TOKENS);
        router.onFinished(attempt, true);
      }
    }
  }

  /** Relative to answers that stream. */
  private double ratio(double load, double factor, Reports reports) {
    double streams =
        STREAMED.computeIfAbsent(List.of(load, factor), both -> p95(load, factor, Reports.STREAMS));
    return p95(load, factor, reports) / streams;
  }

  /** Each load and each factor; in the long form, each of their pairs. */
  static List<Arguments> loadsAndFactors() {
    List<Arguments> pairs =
        new ArrayList<>(List.of(arguments(0.5, 2), arguments(0.8, 0.5), arguments(0.8, 1)));
    if (LongRuns.on()) {
      pairs.addAll(List.of(arguments(0.5, 0.5), arguments(0.5, 1), arguments(0.8, 2)));
    }
    return pairs;
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 0.8})
  void theEndOfAPromptIsExpectedIfItIsNotReported(double load) {
    assertThat(ratio(load, 1, Reports.UNEXPECTED_WHOLE)).isGreaterThan(1.35);
    assertThat(ratio(load, 1, Reports.WHOLE)).isLessThan(1.25);
  }

  @ParameterizedTest
  @MethodSource("loadsAndFactors")
  void reportedEndsOfPromptsTeachAsMuchAsFirstTokens(double load, double factor) {
    assertThat(ratio(load, factor, Reports.WHOLE_AND_PROMPT)).isLessThan(1.08);
  }

  @ParameterizedTest
  @MethodSource("loadsAndFactors")
  void reportsOneStepEarlyDoToo(double load, double factor) {
    double ratio = ratio(load, factor, Reports.WHOLE_AND_STEP);
    assertThat(ratio).isLessThan(1.2);
  }

  @ParameterizedTest
  @MethodSource("loadsAndFactors")
  void streamsTeachForWholeAnswersBesideThem(double load, double factor) {
    assertThat(ratio(load, factor, Reports.MIXED)).isLessThan(1.08);
  }
}
