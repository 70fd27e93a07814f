package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * When {@code projected} leaves requests over. A token takes a millisecond to compute, and a step
 * takes all that there is.
 */
class ProjectedLeftoversTest {

  private static final StepTiming TIMING = new StepTiming(0, 1, 0, 0, 64, 0, 0, 64);
  private static final int BLOCK = 10;
  private static final int CAP = 8;

  private static ProjectedAdpRouter router(int ranks) {
    return new ProjectedAdpRouter(
        ranks, TIMING, 1 << 20, new BlockDemand(BLOCK, false), false, "", false);
  }

  private static Request request(long id, int tokens) {
    return Request.builder(id, new int[tokens]).build();
  }

  /** A rank on which a request runs and whose pool has free blocks and active ones. */
  private static RankState pool(int rank, int free, int active) {
    return new RankState(rank, 1, 0)
        .withWork(RankWork.NONE)
        .withOccupancy(0, new Occupancy(free + active, free, 0, active, 0, 0, 0, 0));
  }

  private static Assignment route(AdpRouter router, List<RankState> states, Request... requests) {
    return router.route(states, Arrays.asList(requests), PrefixMatches.NONE, CAP);
  }

  @Test
  void whatNoPoolCanHoldNowIsLeftOverWhileOthersRun() {
    List<RankState> states = List.of(pool(0, 4, 10), pool(1, 3, 10));
    Request large = request(1, 50);
    Request small = request(2, 40);
    Assignment assignment = route(router(2), states, large, small);
    assertThat(assignment.unassigned()).containsExactly(large);
    assertThat(assignment.decisions()).extracting(Decision::request).containsExactly(small);
    assertThat(assignment.decisions().get(0).rank()).as("the only one with 4 blocks").isZero();
  }

  /** A router that has seen one of three requests end, when all had spent so long together. */
  private static ProjectedAdpRouter after(double stayMs) {
    ProjectedAdpRouter router = router(2);
    List<RankState> states = List.of(pool(0, 10, 0), pool(1, 10, 0));
    route(router, states, request(99, 10));
    step(router, stayMs / 2.5);
    route(router, states);
    return router;
  }

  private static void step(ProjectedAdpRouter router, double ms) {
    router.stepped(List.of(RankWork.NONE, RankWork.NONE), Math.round(ms * 1e6));
  }

  /** Rank 0 is full and holds 40 of 50 tokens, rank 1 has room. */
  private static Assignment routeBesideAFullRank(ProjectedAdpRouter router) {
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.set(0, 0, 40);
    List<RankState> states = List.of(pool(0, 0, 10), pool(1, 10, 10));
    return router.route(states, List.of(request(1, 50)), matches, CAP);
  }

  @Test
  void aRequestWaitsForAFullRankOnlyIfThatIsSooner() {
    assertThat(routeBesideAFullRank(router(2)).decisions())
        .as("nothing is known of ends")
        .extracting(Decision::rank)
        .containsExactly(1);
    assertThat(routeBesideAFullRank(after(60)).unassigned())
        .as("half of 60 ms and 10 there, or 50 here")
        .hasSize(1);
    assertThat(routeBesideAFullRank(after(120)).decisions())
        .as("half of 120 ms and 10 there, or 50 here")
        .extracting(Decision::rank)
        .containsExactly(1);
  }

  @Test
  void aRequestWaitsNoLongerThanItMaySave() {
    ProjectedAdpRouter router = after(40);
    assertThat(routeBesideAFullRank(router).unassigned()).hasSize(1);
    step(router, 5);
    assertThat(routeBesideAFullRank(router).unassigned()).hasSize(1);
    step(router, 30);
    assertThat(routeBesideAFullRank(router).decisions())
        .as("35 ms are gone")
        .extracting(Decision::rank)
        .containsExactly(1);
  }

  @Test
  void aSharedPrefixNeedsNoRoomBesideRequestsThatUseIt() {
    List<RankState> states = List.of(half(0), half(1));
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.set(0, 0, 40);
    assertThat(router(2).route(states, List.of(request(1, 60)), matches, CAP).unassigned())
        .as("4 of 6 blocks are there, but may be all that could be evicted")
        .hasSize(1);
    matches.set(1, 0, 40);
    assertThat(router(2).route(states, List.of(request(1, 60)), matches, CAP).unassigned())
        .as("both ranks have them, so those that run use them")
        .isEmpty();
  }

  /** A rank with 5 blocks in use and 5 cached ones. */
  private static RankState half(int rank) {
    return new RankState(rank, 1, 0)
        .withWork(RankWork.NONE)
        .withOccupancy(0, new Occupancy(10, 0, 5, 5, 0, 0, 0, 0));
  }

  @Test
  void theHeadOfTheQueueIsPlacedAfterAThousandCallsAndOnlyTheHead() {
    List<RankState> states = List.of(pool(0, 4, 10));
    ProjectedAdpRouter router = router(1);
    Request head = request(1, 50);
    Request second = request(2, 50);
    for (int call = 0; call < 1000; call++) {
      assertThat(route(router, states, head, second).unassigned()).containsExactly(head, second);
    }
    Assignment assignment = route(router, states, head, second);
    assertThat(assignment.decisions()).extracting(Decision::request).containsExactly(head);
    assertThat(assignment.unassigned()).containsExactly(second);
    for (int call = 0; call < 999; call++) {
      assertThat(route(router, states, second).unassigned()).as("its own thousand").hasSize(1);
    }
    assertThat(route(router, states, second).decisions()).hasSize(1);
  }

  @Test
  void callsThatLeaveNothingOverEndTheCount() {
    List<RankState> states = List.of(pool(0, 4, 10));
    ProjectedAdpRouter router = router(1);
    Request large = request(1, 50);
    for (int call = 0; call < 600; call++) {
      assertThat(route(router, states, large).unassigned()).hasSize(1);
    }
    route(router, states, request(2, 10));
    for (int call = 0; call < 600; call++) {
      assertThat(route(router, states, large).unassigned()).hasSize(1);
    }
  }

  @Test
  void nothingIsLeftOverWhenNothingRunsThatCouldMakeRoom() {
    RankState idle =
        new RankState(0, 0, 0).withOccupancy(0, new Occupancy(14, 4, 0, 10, 0, 0, 0, 0));
    assertThat(route(router(1), List.of(idle), request(1, 50)).unassigned()).isEmpty();

    RankState sending =
        new RankState(0, 1, 0, 0, 1, 0, new Occupancy(14, 4, 0, 10, 0, 0, 0, 0), null, null);
    assertThat(route(router(1), List.of(sending), request(1, 50)).unassigned()).isEmpty();
  }

  @Test
  void whatFitsNoPoolAtAllIsPlacedAtOnceSoThatItIsRefusedThere() {
    assertThat(route(router(1), List.of(pool(0, 4, 10)), request(1, 150)).unassigned()).isEmpty();
  }
}
