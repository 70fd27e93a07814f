package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What {@code projected} weighs, one thing at a time. A token takes a millisecond to compute, a
 * step takes all that there is, and decoding takes a millisecond for each token of KV, at most 64.
 */
class ProjectedAdpRouterTest {

  private static final StepTiming TIMING = new StepTiming(0, 1, 0, 0, 64, 0, 0, 64);
  private static final int ONE_STEP = 1 << 20;
  private static final int BLOCK = 10;
  private static final int CAP = 8;

  private static final int QUEUE = 0;
  private static final int COMPUTE = 1;
  private static final int PACE = 2;
  private static final int OTHERS = 3;
  private static final int EVICTION = 4;

  private static ProjectedAdpRouter router(int ranks) {
    return new ProjectedAdpRouter(
        ranks, TIMING, ONE_STEP, new BlockDemand(BLOCK, false), false, "", true);
  }

  private static Request request(long id, int tokens) {
    return Request.builder(id, new int[tokens]).build();
  }

  /** A rank with so many tokens in its line. */
  private static RankState line(int rank, int tokens) {
    return busy(rank, tokens, 0, 0);
  }

  /** A rank with so many tokens in its queue, and with requests that decode. */
  private static RankState busy(int rank, int tokens, int decoding, int kvTokens) {
    RankWork work =
        new RankWork(
            tokens > 0 ? 1 : 0, tokens, RankWork.attendedPairs(0, tokens), decoding, kvTokens);
    return new RankState(rank, 1 + decoding, 0).withWork(work);
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

  private static Decision only(Assignment assignment) {
    assertThat(assignment.unassigned()).isEmpty();
    assertThat(assignment.decisions()).hasSize(1);
    return assignment.decisions().get(0);
  }

  /** Rank 1 holds 400 of 500 tokens but has a line; rank 0 has nothing. */
  private static Decision followsThePrefixDespite(int lineTokens) {
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.set(1, 0, 400);
    return only(
        router(2)
            .route(
                List.of(line(0, 0), line(1, lineTokens)), List.of(request(1, 500)), matches, CAP));
  }

  @Test
  void aPrefixIsFollowedUntilTheLineOutweighsWhatItSaves() {
    // There: queue + 5 x 100. Here: 500, half of the wait for the other's longer step, and 4 x 500
    // for half of the time, in which half of the ranks compute.
    Decision followed = followsThePrefixDespite(1_400);
    assertThat(followed.rank()).isEqualTo(1);
    assertThat(followed.reason()).isEqualTo(AdpReason.AFFINITY);
    assertThat(followed.affinityActive()).isTrue();
    assertThat(followed.matchedTokens()).isEqualTo(400);
    assertThat(followed.maxMatch()).isEqualTo(400);
    assertThat(followed.scores()).containsExactly(3 * 500 + (1_400 - 500) / 2.0, 1_400 + 5 * 100);

    Decision left = followsThePrefixDespite(1_600);
    assertThat(left.rank()).isZero();
    assertThat(left.reason()).isEqualTo(AdpReason.LOAD);
    assertThat(left.maxMatch()).isEqualTo(400);
    assertThat(left.scores()).containsExactly(3 * 500 + (1_600 - 500) / 2.0, 1_600 + 5 * 100);
  }

  @Test
  void whatAllRanksHoldGivesNoneOfThemPreference() {
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.set(0, 0, 400);
    matches.set(1, 0, 400);
    Decision decision =
        only(
            router(2)
                .route(List.of(line(0, 9), line(1, 8)), List.of(request(1, 500)), matches, CAP));
    assertThat(decision.rank()).isEqualTo(1);
    assertThat(decision.reason()).isEqualTo(AdpReason.LOAD);
    assertThat(decision.affinityActive()).isFalse();
  }

  @Test
  void whatASiblingComputesIsHeldAsIfItWereThere() {
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.setPending(1, 0, 480);
    Decision decision =
        only(
            router(2)
                .route(List.of(line(0, 0), line(1, 500)), List.of(request(1, 500)), matches, CAP));
    assertThat(decision.rank()).as("behind the sibling").isEqualTo(1);
    assertThat(decision.matchedTokens()).as("the pool itself holds nothing yet").isZero();
    assertThat(decision.terms().value(1, COMPUTE)).isEqualTo(20);
  }

  @Test
  void theLastTokenIsComputedEvenWhereAllIsHeld() {
    PrefixMatches matches = new PrefixMatches(1, 1);
    matches.set(0, 0, 500);
    Decision decision =
        only(router(1).route(List.of(line(0, 0)), List.of(request(1, 500)), matches, CAP));
    assertThat(decision.terms().value(0, COMPUTE)).isEqualTo(1);
  }

  @Test
  void theSlowestRankSetsThePaceOfAll() {
    Decision decision = only(route(router(2), List.of(line(0, 0), line(1, 900)), request(1, 100)));
    assertThat(decision.rank()).isZero();
    assertThat(decision.terms().value(0, PACE))
        .as("half of the 800 ms for which rank 0 waits in the step that computes the request")
        .isEqualTo(400);
    assertThat(decision.terms().value(1, PACE)).as("nobody is slower").isZero();
  }

  @Test
  void paceReachesAsManyStepsAsTheRankNeeds() {
    ProjectedAdpRouter router = new ProjectedAdpRouter(2, TIMING, 100, null, false, "", true);
    Decision decision = only(route(router, List.of(line(0, 0), line(1, 900)), request(1, 150)));
    assertThat(decision.terms().value(0, PACE))
        .as("two steps of 75 ms, each beside one of 100 ms")
        .isEqualTo(0.5 * (2 * 100 - 150));
  }

  @Test
  void decodingOnARankSlowsThePrefillBesideIt() {
    Decision decision =
        only(route(router(2), List.of(busy(0, 0, 1, 40), line(1, 0)), request(1, 100)));
    assertThat(decision.rank()).isEqualTo(1);
    assertThat(decision.terms().value(0, PACE)).isEqualTo(0.5 * 40);
    assertThat(decision.terms().value(1, PACE)).isZero();
  }

  @Test
  void theOldestBlocksOfAllPoolsGoFirst() {
    for (long id = 0; id < 20; id++) {
      ProjectedAdpRouter router = router(2);
      Request first = Request.builder(99, new int[5]).targetRank(0).build();
      route(router, List.of(full(0, 10, 10), full(1, 10, 10)), first);
      // Since then a request was placed. All of rank 0's blocks were used again, rank 1's were not.
      Assignment assignment =
          route(router, List.of(full(0, 20, 20), full(1, 10, 20)), request(id, 50));
      Decision decision = only(assignment);
      assertThat(decision.rank()).as("request %d", id).isEqualTo(1);
      assertThat(decision.terms().value(0, EVICTION))
          .as("three tenths of the time to compute 5 blocks again")
          .isCloseTo(0.3 * 50, within(1e-12));
      assertThat(decision.terms().value(1, EVICTION)).isZero();
    }
  }

  /** An idle rank whose pool is full of blocks that nobody uses. */
  private static RankState full(int rank, int oldestTick, int tick) {
    return new RankState(rank, 0, 0)
        .withWork(RankWork.NONE)
        .withOccupancy(0, new Occupancy(100, 0, 100, 0, 0, 0, oldestTick, tick));
  }

  @Test
  void freeBlocksEvictNothing() {
    RankState free =
        new RankState(0, 0, 0)
            .withWork(RankWork.NONE)
            .withOccupancy(2, new Occupancy(100, 7, 93, 0, 0, 0, 0, 0));
    Assignment assignment = route(router(1), List.of(free), request(1, 30), request(2, 50));
    assertThat(assignment.decisions().get(0).terms().value(0, EVICTION))
        .as("3 of 5 blocks that are free and not queued for")
        .isZero();
    assertThat(assignment.decisions().get(1).terms().value(0, EVICTION))
        .as("2 blocks are left for 5")
        .isCloseTo(0.3 * 30, within(1e-12));
  }

  @Test
  void firstTurnsAreDealtOutInTurnIfAskedFor() {
    ProjectedAdpRouter router = new ProjectedAdpRouter(3, TIMING, 100, null, true, "", false);
    PrefixMatches matches = new PrefixMatches(3, 4);
    List<Request> turns = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      matches.set(1, i, 40);
      turns.add(Request.builder(i, new int[50]).firstTurn(i != 2).build());
    }
    Assignment assignment = router.route(idle(3), turns, matches, CAP);
    assertThat(assignment.decisions()).extracting(Decision::rank).containsExactly(0, 1, 1, 2);
    assertThat(assignment.decisions())
        .extracting(Decision::reason)
        .containsExactly(
            AdpReason.FIRST_TURN, AdpReason.FIRST_TURN, AdpReason.AFFINITY, AdpReason.FIRST_TURN);
  }

  /** One rank holds the prefix that all conversations share; each conversation has five turns. */
  @Test
  void conversationsDoNotAllFollowASharedPrefix() {
    ProjectedAdpRouter router = router(4);
    int[] firstTurns = new int[4];
    for (int i = 0; i < 400; i++) {
      int turn = i / 8 % 5;
      String conversation = "c" + (i % 8 + 8 * (i / 40));
      PrefixMatches matches = new PrefixMatches(4, 1);
      matches.set(0, 0, 40);
      Request request =
          Request.builder(i, new int[60]).conversationId(conversation).firstTurn(turn == 0).build();
      Decision decision = router.route(idle(4), List.of(request), matches, CAP).decisions().get(0);
      firstTurns[decision.rank()] += turn == 0 ? 1 : 0;
    }
    assertThat(firstTurns).as("first turns of each rank").doesNotContain(0);
  }

  @Test
  void othersAreLeftOverOnlyWhereEveryRankIsAtItsCap() {
    List<RankState> states = List.of(new RankState(0, CAP - 1, 0), new RankState(1, CAP, 0));
    Request first = request(1, 5);
    Request second = request(2, 5);
    Assignment assignment = route(router(2), states, first, second);
    assertThat(only(route(router(2), states, first)).rank()).isZero();
    assertThat(assignment.unassigned()).containsExactly(second);
  }

  @Test
  void whatIsNotToldIsNotGuessed() {
    List<RankState> states = List.of(new RankState(0, 1, 300), new RankState(1, 1, 200));
    Decision decision = only(route(router(2), states, request(1, 100)));
    assertThat(decision.rank()).as("active tokens stand for the line").isEqualTo(1);
    assertThat(decision.terms().value(0, QUEUE)).isEqualTo(300);
    assertThat(decision.terms().value(0, EVICTION)).isZero();
    assertThat(decision.terms().value(1, EVICTION)).isZero();
  }

  @Test
  void aRouterWithoutDemandIgnoresPools() {
    ProjectedAdpRouter router = new ProjectedAdpRouter(1, TIMING, ONE_STEP, null, false, "", true);
    Decision decision = only(route(router, List.of(pool(0, 0, 14)), request(1, 50)));
    assertThat(decision.terms().value(0, EVICTION)).isZero();
    assertThat(router.readsOccupancy()).isFalse();
  }

  @Test
  void scoresAreTheSumsOfTheirTermsAndTheLowestWins() {
    PrefixMatches matches = new PrefixMatches(3, 1);
    matches.set(2, 0, 30);
    List<RankState> states = List.of(busy(0, 70, 2, 30), full(1, 0, 5), line(2, 200));
    Decision decision = only(router(3).route(states, List.of(request(1, 100)), matches, CAP));
    assertThat(decision.scoredRanks()).containsExactly(0, 1, 2);
    assertThat(decision.terms().names())
        .containsExactly("queue", "compute", "lockstep", "others", "eviction", "work");
    for (int i = 0; i < 3; i++) {
      double sum = 0;
      for (int term = QUEUE; term <= EVICTION; term++) {
        assertThat(decision.terms().value(i, term)).isNotNegative();
        sum += decision.terms().value(i, term);
      }
      assertThat(decision.scores()[i]).isEqualTo(sum);
      assertThat(decision.terms().value(i, OTHERS))
          .isLessThanOrEqualTo(4 * decision.terms().value(i, COMPUTE));
    }
    double lowest = Arrays.stream(decision.scores()).min().orElseThrow();
    assertThat(decision.scores()[decision.rank()]).isEqualTo(lowest);
  }

  @Test
  void equalRanksAreSpreadByTheRequestsId() {
    List<Integer> ranks = new ArrayList<>();
    for (long id = 0; id < 40; id++) {
      ranks.add(only(route(router(4), idle(4), request(id, 100))).rank());
    }
    assertThat(ranks).contains(0, 1, 2, 3);
  }

  private static List<RankState> idle(int ranks) {
    List<RankState> states = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      states.add(new RankState(rank, 0, 0));
    }
    return states;
  }

  @Test
  void placementsOfABatchAreSeenByThoseBehindThem() {
    Assignment assignment = route(router(2), idle(2), request(1, 100), request(2, 100));
    assertThat(assignment.decisions()).extracting(Decision::rank).containsExactlyInAnyOrder(0, 1);
    assertThat(assignment.activeTokensAfter()).containsExactly(100, 100);
  }

  @Test
  void whoNamesAFullRankWaitsItsTurnAmongTheOthers() {
    Request first = request(1, 5);
    Request strict = Request.builder(2, new int[5]).targetRank(1).relax(false).build();
    List<RankState> states = List.of(new RankState(0, CAP - 1, 0), new RankState(1, CAP, 0));
    Assignment assignment = route(router(2), states, first, strict);
    assertThat(assignment.decisions()).extracting(Decision::request).containsExactly(first);
    assertThat(assignment.unassigned()).containsExactly(strict);
  }

  @Test
  void stepsWithoutTokensAreRefused() {
    assertThatThrownBy(() -> new ProjectedAdpRouter(2, TIMING, 0, null, false, "", false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxNumTokens must be at least 1, not 0");
  }
}
