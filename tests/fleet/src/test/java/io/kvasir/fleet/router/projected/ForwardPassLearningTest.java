package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Engines that report their steps. */
class ForwardPassLearningTest {

  private static final double NS_PER_MS = 1e6;
  private static final RankId FIRST = new RankId(0, 0);
  private static final RankId BESIDE_FIRST = new RankId(0, 1);
  private static final RankId ELSEWHERE = new RankId(1, 0);

  private final Random random = new Random(1);
  private long nowNs = 1;
  private long ids;

  private final FleetRouter router = ProjectedRouters.of(0, Map.of(), () -> nowNs);

  @AfterEach
  void close() {
    router.close();
  }

  private void add(RankId... ranks) {
    for (RankId rank : ranks) {
      router.addRank(rank, RankCapacity.UNKNOWN);
    }
  }

  /** The published times, multiplied. */
  private static double trueMs(double factor, int tokens) {
    StepTiming published = StepTiming.DEFAULT;
    return factor * published.prefillMs(tokens * (tokens / 2.0), tokens);
  }

  private static ForwardPass step(int tokens, double ms) {
    return new ForwardPass(Math.round(ms * NS_PER_MS), 1, tokens, 0, 0, 0);
  }

  private int someTokens() {
    return 200 + random.nextInt(4_000);
  }

  private double noise() {
    return Math.exp(0.05 * random.nextGaussian());
  }

  private FleetRequest request(int tokens) {
    int[] prompt = new int[tokens];
    Arrays.setAll(prompt, i -> (int) ids * 31 + i);
    return FleetRequest.builder(++ids, Prompt.of(prompt)).build();
  }

  /** The expected time to the first token of a prompt on a rank. */
  private double expectedMs(RankId rank, int tokens) {
    RouteOutcome outcome = Objects.requireNonNull(router.preview(request(tokens)));
    for (CandidateCost cost : ((RouteOutcome.Placed) outcome).placement().candidates()) {
      if (cost.rank().equals(rank)) {
        return Objects.requireNonNull(cost.firstToken()).expectedMs();
      }
    }
    throw new AssertionError(rank + " is no candidate");
  }

  @Test
  void theStepsOfEnginesTeachTheirTimes() {
    add(FIRST, ELSEWHERE);
    for (int i = 0; i < 200; i++) {
      nowNs += 50_000_000;
      int tokens = someTokens();
      router.onForwardPass(FIRST, step(tokens, trueMs(3, tokens) * noise()));
      router.onForwardPass(ELSEWHERE, step(tokens, trueMs(1.5, tokens) * noise()));
    }
    for (int tokens : new int[] {500, 2_000, 4_000}) {
      double slow = trueMs(3, tokens);
      assertThat(expectedMs(FIRST, tokens)).isCloseTo(slow, within(0.07 * slow));
      double fast = trueMs(1.5, tokens);
      assertThat(expectedMs(ELSEWHERE, tokens)).isCloseTo(fast, within(0.07 * fast));
    }
  }

  @Test
  void anEngineThatHasReportedNothingIsTakenForATypicalOne() {
    RankId[] reporting = {FIRST, new RankId(2, 0), new RankId(3, 0)};
    add(reporting);
    add(ELSEWHERE);
    for (int i = 0; i < 600; i++) {
      nowNs += 50_000_000;
      int tokens = someTokens();
      router.onForwardPass(reporting[i % 3], step(tokens, trueMs(0.1, tokens) * noise()));
    }
    double known = expectedMs(FIRST, 2_000);
    assertThat(known).isCloseTo(trueMs(0.1, 2_000), within(0.1 * trueMs(0.1, 2_000)));
    assertThat(expectedMs(ELSEWHERE, 2_000)).isCloseTo(known, within(0.1 * known));
  }

  @Test
  void theReportsOfOneEngineChangeNoOther() {
    RankId[] silent = {new RankId(2, 0), new RankId(3, 0)};
    add(silent);
    add(FIRST, ELSEWHERE);
    double before = expectedMs(silent[0], 2_000);
    for (int i = 0; i < 600; i++) {
      nowNs += 50_000_000;
      int tokens = someTokens();
      router.onForwardPass(FIRST, step(tokens, trueMs(10, tokens) * noise()));
      router.onForwardPass(ELSEWHERE, step(tokens, trueMs(2, tokens) * noise()));
    }
    double first = trueMs(10, 2_000);
    assertThat(expectedMs(FIRST, 2_000)).isCloseTo(first, within(0.07 * first));
    double honest = trueMs(2, 2_000);
    assertThat(expectedMs(ELSEWHERE, 2_000)).isCloseTo(honest, within(0.07 * honest));
    assertThat(expectedMs(silent[1], 2_000)).isEqualTo(before);
  }

  @Test
  void ofRanksThatStepTogetherTheSlowestOneLearns() {
    add(FIRST, BESIDE_FIRST);
    for (int i = 0; i < 400; i++) {
      nowNs += 50_000_000;
      int most = 2_000 + random.nextInt(2_000);
      double ms = trueMs(2, most) * noise();
      router.onForwardPass(i % 4 == 0 ? BESIDE_FIRST : FIRST, step(most, ms));
      router.onForwardPass(i % 4 == 0 ? FIRST : BESIDE_FIRST, step(most / 8, ms));
    }
    double first = expectedMs(FIRST, 3_000);
    assertThat(first).isCloseTo(trueMs(2, 3_000), within(0.07 * trueMs(2, 3_000)));
    assertThat(expectedMs(BESIDE_FIRST, 3_000)).isCloseTo(first, within(0.07 * first));
  }

  private static ForwardPass decoding(double ms) {
    return new ForwardPass(Math.round(ms * NS_PER_MS), 0, 0, 0, 1, 1_000);
  }

  /** The time of the answer's first tokens on an idle rank, as the policy expects it. */
  private double paceMs(RankId rank) {
    RouteOutcome outcome = Objects.requireNonNull(router.preview(request(100)));
    for (CandidateCost cost : ((RouteOutcome.Placed) outcome).placement().candidates()) {
      if (cost.rank().equals(rank)) {
        return cost.terms().getOrDefault("pace", 0.0);
      }
    }
    throw new AssertionError(rank + " is no candidate");
  }

  @Test
  void aRankThatOnlyDecodesDoesNotLearnFromThePromptsBeside() {
    add(FIRST, BESIDE_FIRST, ELSEWHERE);
    double paceMs = paceMs(ELSEWHERE);
    for (int i = 0; i < 400; i++) {
      nowNs += 200_000_000;
      router.onForwardPass(FIRST, decoding(StepTiming.DEFAULT.decodeMs(1_000) * noise()));
      nowNs += 200_000_000; // then BESIDE_FIRST computes a prompt, and reports it last
      double ms = trueMs(1, 8_000) * noise();
      router.onForwardPass(FIRST, decoding(ms));
      router.onForwardPass(BESIDE_FIRST, step(8_000, ms));
    }
    assertThat(paceMs(ELSEWHERE)).isCloseTo(paceMs, within(0.1 * paceMs));
    assertThat(expectedMs(FIRST, 8_000))
        .isCloseTo(trueMs(1, 8_000), within(0.07 * trueMs(1, 8_000)));
  }

  @Test
  void norDoItsTokensTellMore() {
    add(FIRST, BESIDE_FIRST, ELSEWHERE);
    double paceMs = paceMs(ELSEWHERE);
    long answer = place(FIRST, 100);
    for (int i = 0; i < 400; i++) {
      long attempt = place(BESIDE_FIRST, 8_000);
      nowNs += Math.round(trueMs(1, 8_000) * noise() * NS_PER_MS);
      router.onTokens(answer, 1);
      router.onTokens(attempt, 1);
      for (int token = 0; token < 10; token++) {
        nowNs += Math.round(StepTiming.DEFAULT.decodeMs(10_000) * noise() * NS_PER_MS);
        router.onTokens(answer, 1);
        router.onTokens(attempt, 1);
      }
      router.onFinished(attempt, true);
    }
    assertThat(paceMs(ELSEWHERE)).isCloseTo(paceMs, within(0.1 * paceMs));
  }

  private long place(RankId rank, int tokens) {
    FleetRequest pinned =
        FleetRequest.builder(++ids, request(tokens).prompt()).filter(RankFilter.pin(rank)).build();
    return ((RouteOutcome.Placed) router.route(pinned)).placement().attempt();
  }

  /** Computes a prompt whose first token comes a time after its placement. */
  private void serve(RankId rank, int tokens, double ms) {
    long attempt = place(rank, tokens);
    nowNs += Math.round(ms * NS_PER_MS);
    router.onTokens(attempt, 1);
    nowNs += 10_000_000;
    router.onTokens(attempt, 1);
    router.onFinished(attempt, true);
  }

  @Test
  void firstTokensOfAnEngineThatReportsTeachNothing() {
    add(FIRST, ELSEWHERE);
    for (int i = 0; i < 200; i++) {
      int tokens = someTokens();
      serve(FIRST, tokens, 4 * trueMs(1, tokens)); // the network takes most of it
      router.onForwardPass(FIRST, step(tokens, trueMs(1, tokens)));
    }
    assertThat(expectedMs(FIRST, 2_000))
        .isCloseTo(trueMs(1, 2_000), within(0.1 * trueMs(1, 2_000)));
  }

  @Test
  void anEngineThatStopsToReportIsFollowedByItsFirstTokensAgain() {
    add(FIRST, ELSEWHERE);
    router.onForwardPass(FIRST, step(1_000, trueMs(1, 1_000)));
    nowNs += 60_000_000_000L;
    for (int i = 0; i < 200; i++) {
      int tokens = someTokens();
      serve(FIRST, tokens, trueMs(2, tokens));
    }
    assertThat(expectedMs(FIRST, 2_000))
        .isCloseTo(trueMs(2, 2_000), within(0.1 * trueMs(2, 2_000)));
  }

  @Test
  void signsOfLifeAndUnknownRanksChangeNothing() {
    add(FIRST);
    double before = expectedMs(FIRST, 2_000);
    router.onForwardPass(FIRST, ForwardPass.IDLE);
    router.onForwardPass(ELSEWHERE, step(1_000, 9_000));
    assertThat(expectedMs(FIRST, 2_000)).isEqualTo(before);
  }
}
