package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Prompts whose first token comes later than expected, or never. */
class LatePromptsTest {

  private static final long MS = 1_000_000;
  private static final RankId RANK = new RankId(0, 0);

  private long nowNs;
  private int ids;
  private final FleetRouter router = ProjectedRouters.of(2, Map.of("explain", true), () -> nowNs);

  @AfterEach
  void close() {
    router.close();
  }

  private Placement place(FleetRequest request) {
    return ((RouteOutcome.Placed) router.route(request)).placement();
  }

  private FleetRequest request(int tokens) {
    int id = ++ids;
    return FleetRequest.builder(id, ProjectedRouters.unshared(id, tokens)).build();
  }

  private Placement placeOn(RankId rank, int tokens) {
    int id = ++ids;
    return place(
        FleetRequest.builder(id, ProjectedRouters.unshared(id, tokens))
            .filter(RankFilter.pin(rank))
            .build());
  }

  private double queueMs() {
    Placement preview = ((RouteOutcome.Placed) router.preview(request(100))).placement();
    for (CandidateCost cost : preview.candidates()) {
      if (cost.rank().equals(RANK)) {
        return cost.terms().get("queue");
      }
    }
    throw new AssertionError("no candidate " + RANK);
  }

  @Test
  void aRankIsExpectedToHangAsLongAsItHas() {
    Placement stuck = placeOn(RANK, 8_000);
    double ms = queueMs();
    nowNs += 10_000 * MS;
    assertThat(queueMs()).isCloseTo(10_000 - ms, within(1e-3));
    nowNs += 20_000 * MS;
    assertThat(queueMs()).isCloseTo(30_000 - ms, within(1e-3));

    router.onTokens(stuck.attempt(), 1);
    assertThat(queueMs()).as("trusted again").isZero();
  }

  @Test
  void aRankThatHangsGetsNoMoreRequests() {
    Placement stuck = placeOn(RANK, 4_000);
    int more = 0;
    for (int i = 0; i < 100; i++) {
      nowNs += 200 * MS;
      Placement placed = place(request(4_000));
      if (placed.rank().equals(RANK)) {
        more++;
      } else {
        nowNs += 80 * MS;
        router.onTokens(placed.attempt(), 1);
      }
    }
    assertThat(more).isLessThanOrEqualTo(1);
    router.onTokens(stuck.attempt(), 1);
  }

  @Test
  void aPromptCountsAsComputedIfLaterOnesWere() {
    placeOn(RANK, 8_000);
    nowNs += 500 * MS;
    placeOn(RANK, 8_000);
    nowNs += MS;
    Placement later = placeOn(RANK, 8_000);
    assertThat(queueMs()).isGreaterThan(300);
    nowNs += 500 * MS;
    router.onTokens(later.attempt(), 1);
    assertThat(queueMs()).as("the second one's three times have not passed").isPositive();
    nowNs += 2_000 * MS;
    assertThat(queueMs()).isZero();
  }

  @Test
  void aPromptCountsAsComputedIfTheRankHasNoWork() {
    placeOn(RANK, 8_000);
    router.onForwardPass(RANK, ForwardPass.IDLE);
    nowNs += 10_000 * MS;
    assertThat(queueMs()).as("that may have been before it came").isPositive();
    router.onForwardPass(RANK, ForwardPass.IDLE);
    assertThat(queueMs()).isZero();
  }
}
