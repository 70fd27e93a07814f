package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two ranks, and requests that ask for times. */
class TargetsTest {

  private static final long MS = 1_000_000;
  private static final double ANY = Double.POSITIVE_INFINITY;

  private FleetRouter router;
  private long nowNs;
  private long ids;

  @BeforeEach
  void start() {
    router = ProjectedRouters.of(2, Map.of("explain", true), () -> nowNs);
  }

  @AfterEach
  void close() {
    router.close();
  }

  private static int[] prompt(int name, int tokens) {
    int[] prompt = new int[tokens];
    Arrays.setAll(prompt, i -> name * 31 + i % 30_000);
    return prompt;
  }

  private FleetRequestBuilder request(int name, int tokens) {
    return FleetRequest.builder(++ids, Prompt.of(prompt(name, tokens)));
  }

  private Placement place(FleetRequestBuilder request) {
    RouteOutcome outcome = router.route(request.build());
    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    return ((RouteOutcome.Placed) outcome).placement();
  }

  private static FirstTokenForecast forecast(Placement placement, long worker) {
    CandidateCost cost =
        placement.candidates().stream()
            .filter(candidate -> candidate.rank().workerId() == worker)
            .findFirst()
            .orElseThrow();
    return Objects.requireNonNull(cost.firstToken());
  }

  /** Rank 0 holds a prompt of 8,000 tokens, and has about as much to compute first. */
  private void warmAndBusy() {
    RankFilter first = RankFilter.pin(new RankId(0, 0));
    Placement warm = place(request(1, 8_000).filter(first));
    nowNs += 200 * MS;
    router.onTokens(warm.attempt(), 1);
    router.onFinished(warm.attempt(), true);
    place(request(2, 4_000).filter(first));
    place(request(3, 4_000).filter(first));
  }

  @Test
  void aRequestInAHurryLeavesTheRankThatIsBetterOnTheWhole() {
    warmAndBusy();
    Placement calm = place(request(1, 8_000));
    assertThat(calm.rank().workerId()).isEqualTo(0);
    router.onFinished(calm.attempt(), false);

    double there = forecast(calm, 1).expectedMs();
    double here = forecast(calm, 0).expectedMs();
    assertThat(there).isLessThan(here);
    double hurryMs = (here + there) / 2;
    Placement hurried = place(request(1, 8_000).targets(new LatencyTargets(hurryMs, ANY)));
    assertThat(hurried.rank().workerId()).isEqualTo(1);
    assertThat(forecast(hurried, 0).likelihood()).isBetween(0.1, 0.5);
    assertThat(forecast(hurried, 1).likelihood()).isBetween(0.5, 0.9);
  }

  @Test
  void aPromptStaysAwayFromAnswersThatItWouldDelayTooMuch() {
    RankFilter first = RankFilter.pin(new RankId(0, 0));
    Placement answer =
        place(
            request(1, 1_000)
                .filter(first)
                .expectedOutputTokens(20)
                .targets(new LatencyTargets(ANY, 30)));
    nowNs += 40 * MS;
    router.onTokens(answer.attempt(), 1);
    for (int token = 0; token < 4; token++) {
      nowNs += 10 * MS;
      router.onTokens(answer.attempt(), 1);
    }
    Placement other = place(request(2, 2_000).filter(RankFilter.pin(new RankId(1, 0))));

    Placement prompt = place(request(3, 30_000));

    assertThat(prompt.rank().workerId()).as("rank 1 is busy").isEqualTo(1);
    router.onFinished(prompt.attempt(), false);
    router.onFinished(answer.attempt(), true);
    assertThat(place(request(4, 30_000)).rank().workerId()).isEqualTo(0);
    router.onFinished(other.attempt(), true);
  }

  @Test
  void likelihoodsSayWhatTheTargetsAllow() {
    Placement any = place(request(1, 4_000));
    assertThat(forecast(any, 0).likelihood()).isEqualTo(1);
    router.onFinished(any.attempt(), true);
    double expected = forecast(any, 0).expectedMs();
    for (double share : new double[] {0.3, 1, 3}) {
      Placement asked =
          place(
              request((int) (10 * share), 4_000)
                  .targets(new LatencyTargets(share * expected, ANY)));
      router.onFinished(asked.attempt(), true);
      double likelihood = forecast(asked, 0).likelihood();
      assertThat(likelihood).isCloseTo(share < 1 ? 0 : share > 1 ? 1 : 0.5, within(0.02));
    }
  }

  @Test
  void whatNoRankCanMeetIsRefusedIfItsClassAllowsIt() {
    LatencyTargets impossible = new LatencyTargets(1, ANY);
    RouteOutcome outcome =
        router.route(request(1, 8_000).targets(impossible).strictPriority(-1).build());
    assertThat(outcome).isEqualTo(new RouteOutcome.Refused(Refusal.TARGETS_UNREACHABLE));
    assertThat(place(request(2, 8_000).targets(impossible)).rank()).isNotNull();
    assertThat(place(request(3, 8_000).strictPriority(-1)).rank()).isNotNull();
    LatencyTargets slow = new LatencyTargets(ANY, 1);
    assertThat(router.route(request(4, 80).targets(slow).strictPriority(-1).build()))
        .isInstanceOf(RouteOutcome.Refused.class);
  }
}
