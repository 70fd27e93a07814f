package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Fuzz;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepTiming;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One engine reports any steps, in any number, next to honest engines: their times stay right, and
 * every request is placed.
 */
@Tag("fuzz")
class ReportedStepsFuzzTest {

  private static final double NS_PER_MS = 1e6;
  private static final long MOST_NS = 3_600_000_000_000L; // what readers of reports accept
  private static final long MOST_TOKENS = 1L << 40;
  private static final int HONEST_REPORTS = 500;

  private static final int PROMPT = 4_000;

  private final double promptMs = publishedMs(PROMPT);
  private long nowNs;
  private long ids;

  private static double publishedMs(int tokens) {
    return StepTiming.DEFAULT.prefillMs(tokens * (tokens / 2.0), tokens);
  }

  private static ForwardPass honest(Random random) {
    double noise = Math.exp(0.1 * random.nextGaussian());
    if (random.nextInt(4) > 0) {
      long kvTokens = 1_000L + random.nextInt(400_000);
      double ms = StepTiming.DEFAULT.decodeMs(kvTokens) * noise;
      return new ForwardPass(Math.round(ms * NS_PER_MS), 0, 0, 0, 8, kvTokens);
    }
    int tokens = 200 + random.nextInt(8_000);
    double ms = publishedMs(tokens) * noise;
    return new ForwardPass(Math.round(ms * NS_PER_MS), 1, tokens, 0, 0, 0);
  }

  /** Any magnitude is as likely as any other. */
  private static long anyUpTo(long most, Random random) {
    return (long) Math.exp(Math.log((double) most) * random.nextDouble());
  }

  /** A kind of lie for one run; the sequence within it is random too. */
  private static ForwardPass lie(int kind, int i, Random random) {
    ForwardPass honest = honest(random);
    return switch (kind) {
      case 0 -> new ForwardPass(anyUpTo(MOST_NS, random), 1, honest.prefillTokens(), 0, 0, 0);
      case 1 -> withDuration(honest, i % 2 == 0 ? 1 : MOST_NS);
      case 2 -> withDuration(honest, MOST_NS);
      case 3 -> withDuration(honest, 1);
      case 4 -> withDuration(honest, honest.prefillTokens() > 0 ? 15 : 1.0 / 15);
      case 5 -> withDuration(honest, Math.exp(3 * random.nextGaussian()));
      case 6 -> withDuration(honest, i / 1_000 % 2 == 0 ? 10 : 0.1);
      case 7 -> new ForwardPass(1, 1, MOST_TOKENS, MOST_TOKENS, 1, MOST_TOKENS);
      default ->
          new ForwardPass(
              anyUpTo(MOST_NS, random),
              random.nextInt(2),
              anyUpTo(MOST_TOKENS, random),
              anyUpTo(MOST_TOKENS, random),
              random.nextInt(2),
              anyUpTo(MOST_TOKENS, random));
    };
  }

  private static ForwardPass withDuration(ForwardPass pass, double factor) {
    return withDuration(pass, Math.max(1, Math.round(pass.durationNs() * factor)));
  }

  private static ForwardPass withDuration(ForwardPass pass, long durationNs) {
    return new ForwardPass(
        durationNs,
        pass.prefillRequests(),
        pass.prefillTokens(),
        pass.prefillKvTokens(),
        pass.decodingRequests(),
        pass.decodeKvTokens());
  }

  private void assertHonestTimes(FleetRouter router, int engines) {
    int[] prompt = new int[PROMPT];
    prompt[0] = (int) ++ids; // no rank holds any of it
    RouteOutcome outcome = router.route(FleetRequest.builder(ids, Prompt.of(prompt)).build());
    Placement placement = ((RouteOutcome.Placed) outcome).placement();
    for (CandidateCost candidate : placement.candidates()) {
      double expected = Objects.requireNonNull(candidate.firstToken()).expectedMs();
      assertThat(Double.isFinite(expected) && expected > 0).as("finite").isTrue();
      double compute = candidate.terms().get("compute");
      int engine = (int) candidate.rank().workerId();
      if (engine != engines - 1) {
        assertThat(compute).as("engine %d", engine).isBetween(0.9 * promptMs, 1.1 * promptMs);
      }
    }
    router.onFinished(placement.attempt(), false);
  }

  private void run(Random random) {
    int engines = 3 + random.nextInt(6);
    boolean alone = random.nextInt(3) == 0; // the others report nothing
    int kind = random.nextInt(9);
    int liesPerReport = 1 + random.nextInt(20);
    int most = engines * (liesPerReport + 1) * HONEST_REPORTS;
    try (FleetRouter router = ProjectedRouters.of(engines, Map.of("explain", true), () -> nowNs)) {
      for (int i = 0; i < most; i++) {
        nowNs += 5_000_000;
        boolean lie = random.nextInt(liesPerReport + 1) > 0 || alone;
        int engine = lie ? engines - 1 : random.nextInt(engines - 1);
        router.onForwardPass(new RankId(engine, 0), lie ? lie(kind, i, random) : honest(random));
        if (i > most / 2 && i % 1_000 == 0) {
          assertHonestTimes(router, engines);
        }
      }
    }
  }

  @Test
  void oneEnginesReportsHarmNoOther() {
    Fuzz.run("reported steps", this::run);
  }
}
