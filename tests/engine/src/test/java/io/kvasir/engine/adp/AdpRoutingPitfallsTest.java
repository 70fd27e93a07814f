package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.execute.RankLedger;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Mistakes that routers of this kind are known to have made, by their numbers in the catalogue. */
class AdpRoutingPitfallsTest {

  private static final int HARD_CAP = 64;

  // B1
  @Test
  void aSystemPromptBelowTheThresholdDoesNotPinTrafficToTheFirstWarmRank() {
    Assignment assignment =
        route(kvCacheAware(0.1, false), idle(4), prompts(8, 100), heldBy(0, 4, 8, 9));
    assertThat(perRank(assignment)).containsExactly(2, 2, 2, 2);
  }

  // B1
  @Test
  void aSystemPromptAboveTheThresholdFillsTheWarmRankOnlyToItsShare() {
    Assignment assignment =
        route(kvCacheAware(0.1, false), idle(4), prompts(8, 100), heldBy(0, 4, 8, 90));
    assertThat(perRank(assignment)[0]).isLessThanOrEqualTo(4);
  }

  // B1
  @Test
  void warmUpReachesEveryRankBeforeMatchesDecide() {
    Assignment assignment =
        route(kvCacheAware(0.1, true), idle(4), prompts(4, 100), heldBy(0, 4, 4, 90));
    assertThat(perRank(assignment)).containsExactly(1, 1, 1, 1);
  }

  // B2
  @ParameterizedTest
  @EnumSource
  void aLongSharedPrefixDoesNotSkewConversations(NewConversationPlacement placement) {
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      requests.add(Request.builder(i, new int[100]).conversationId("c" + i).build());
    }
    Assignment assignment =
        route(conversation(8, 2, placement), idle(8), requests, heldBy(0, 8, 64, 90));
    assertThat(perRank(assignment)).containsOnly(8);
  }

  // B2
  @Test
  void firstTurnsAreDealtOutWhateverIsHeldOfThem() {
    AdpRouter router =
        new KvCacheAwareAdpRouter(4, new KvCacheRoutingOptions(1, 0.1, 2, false, true, true));
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      requests.add(Request.builder(i, new int[100]).firstTurn(true).build());
    }
    Assignment assignment = route(router, idle(4), requests, heldBy(0, 4, 8, 90));
    assertThat(perRank(assignment)).containsOnly(2);
    assertThat(assignment.decisions())
        .allMatch(decision -> decision.reason() == AdpReason.FIRST_TURN);
  }

  // B3
  @Test
  void theSoftTargetIsRoundedUp() {
    AdpRouter router =
        new KvCacheAwareAdpRouter(2, new KvCacheRoutingOptions(1, 0.1, 1.5, false, true, false));
    assertThat(route(router, idle(2), prompts(1, 10), PrefixMatches.NONE).expectedActiveRequests())
        .isEqualTo(2);
  }

  // B4
  @Test
  void aMultiplierThatWouldLoseRequestsIsRefused() {
    assertThatThrownBy(() -> new KvCacheRoutingOptions(1, 0.1, 0.5, false, true, false))
        .hasMessageContaining("kv_cache_routing_fair_share_multiplier must be finite and at least");
  }

  // B4
  @Test
  void whatFitsNowhereIsReturned() {
    List<Request> requests = prompts(5, 10);
    Assignment assignment =
        kvCacheAware(0.1, false).route(idle(4), requests, PrefixMatches.NONE, 1);
    assertThat(assignment.decisions()).hasSize(4);
    assertThat(assignment.unassigned()).hasSize(1);
  }

  // B5
  @Test
  void requestsInTransferTakePlacesButDoNotKeepAnInstanceAwake() {
    RankLedger ledger = new RankLedger(0);
    ledger.add(100, 1);
    ledger.startTransfer(100, 0, 1);
    RankState state = ledger.state(kvCacheAware(0.1, false).loadMetric(), null);
    assertThat(state.activeRequests()).isEqualTo(1);
    assertThat(state.activeTokens()).isEqualTo(100);
    assertThat(state.liveRequests()).isZero();
  }

  // B6
  @ParameterizedTest
  @EnumSource
  void severalRequestsThatSayNothingOfRelaxAreSorted(AdpRouterKind kind) {
    List<Request> requests =
        List.of(
            Request.builder(1, new int[3]).targetRank(0).build(),
            Request.builder(2, new int[3]).relax(null).targetRank(0).build(),
            Request.builder(3, new int[3]).relax(false).targetRank(0).build());
    Assignment assignment = router(kind, null, 2).route(idle(2), requests, PrefixMatches.NONE, 1);
    assertThat(assignment.decisions().get(0).request().id()).as("strict first").isEqualTo(3);
    assertThat(requests.get(0).givenRelax()).isNull();
    assertThat(requests.get(0).relax()).isTrue();
  }

  // B7
  @ParameterizedTest
  @EnumSource
  void aRankAboveTheHardCapIsNoError(AdpRouterKind kind) {
    AdpRouter router = router(kind, null, 2);
    List<RankState> states = List.of(new RankState(0, 9, 90), new RankState(1, 0, 0));
    assertThatCode(() -> router.route(states, prompts(3, 10), PrefixMatches.NONE, 8))
        .doesNotThrowAnyException();
  }

  // B8, B9
  @Test
  void retiringRequestsTakeNoPlaceAndAreStillTold() {
    RankLedger ledger = new RankLedger(0);
    ledger.add(100, 1);
    ledger.add(200, 1);
    ledger.retire(200, 0, 1);
    RankState state = ledger.state(LoadMetric.PROMPT_TOKENS, null);
    assertThat(state.activeRequests()).isEqualTo(1);
    assertThat(state.activeTokens()).isEqualTo(100);
    assertThat(state.retiringRequests()).isEqualTo(1);
    assertThat(state.liveRequests()).isEqualTo(2);
  }

  // B10
  @Test
  void newConversationsNeverExceedTheHardCap() {
    AdpRouter router = conversation(4, 2, NewConversationPlacement.ROUND_ROBIN);
    List<RankState> states = states(40, 40, 40, 64);
    Assignment assignment = route(router, states, prompts(8, 10), PrefixMatches.NONE);
    assertThat(assignment.expectedActiveRequests()).isEqualTo(HARD_CAP);
    assertThat(perRank(assignment)[3]).isZero();
  }

  // B11
  @Test
  void aPopularConversationStaysHomeAboveTheSoftTarget() {
    AdpRouter router = conversation(2, 1, NewConversationPlacement.ROUND_ROBIN);
    Request first = Request.builder(1, new int[9]).conversationId("A").build();
    route(router, idle(2), List.of(first), PrefixMatches.NONE);
    Request next = Request.builder(2, new int[9]).conversationId("A").build();
    Assignment assignment = route(router, states(30, 0), List.of(next), PrefixMatches.NONE);
    assertThat(assignment.assignedTo(0)).containsExactly(next);
  }

  // B12
  @Test
  void newConversationsAvoidDeepQueuesWhenAsked() {
    List<RankState> queues = states(24, 8, 24, 24);
    List<Request> one = prompts(1, 10);
    assertThat(
            perRank(
                route(
                    conversation(4, 2, NewConversationPlacement.LEAST_QUEUED),
                    queues,
                    one,
                    PrefixMatches.NONE)))
        .containsExactly(0, 1, 0, 0);
    List<RankState> tokens =
        List.of(new RankState(0, 1, 900), new RankState(1, 3, 20), new RankState(2, 2, 400));
    assertThat(
            perRank(
                route(
                    conversation(3, 2, NewConversationPlacement.LEAST_TOKENS),
                    tokens,
                    one,
                    PrefixMatches.NONE)))
        .containsExactly(0, 1, 0);
  }

  // B13
  @ParameterizedTest
  @EnumSource
  void statesAreToldApartByRankAndNotByPosition(NewConversationPlacement placement) {
    List<RankState> live = List.of(new RankState(1, 9, 90), new RankState(3, 0, 0));
    Assignment assignment =
        route(conversation(4, 1, placement), live, prompts(1, 10), PrefixMatches.NONE);
    assertThat(perRank(assignment)).containsExactly(0, 0, 0, 1);
  }

  // B15
  @Test
  void aBindingBeatsARankThatIsNamedLater() {
    AdpRouter router = conversation(4, 2, NewConversationPlacement.ROUND_ROBIN);
    Request first = Request.builder(1, new int[9]).conversationId("A").targetRank(2).build();
    route(router, idle(4), List.of(first), PrefixMatches.NONE);
    Request named =
        Request.builder(2, new int[9]).conversationId("A").targetRank(1).relax(false).build();
    Assignment assignment = route(router, idle(4), List.of(named), PrefixMatches.NONE);
    assertThat(assignment.assignedTo(2)).containsExactly(named);
    assertThat(assignment.decisions().get(0).reason()).isEqualTo(AdpReason.STICKY);
  }

  // B22, B23
  @Test
  void aMatchBeyondThePromptDoesNotMakeWorkNegative() {
    Assignment assignment =
        route(kvCacheAware(0.1, false), idle(4), prompts(1, 100), heldBy(2, 4, 1, 500));
    assertThat(assignment.assignedTo(2)).hasSize(1);
    assertThat(assignment.activeTokensAfter()).containsOnly(0);
    assertThat(assignment.decisions().get(0).maxMatch()).isEqualTo(100);
  }

  // B23
  @ParameterizedTest
  @EnumSource
  void anEmptyPromptOnIdleRanksDividesNothingByZero(AdpRouterKind kind) {
    Assignment assignment =
        route(router(kind, null, 2), idle(2), prompts(1, 0), PrefixMatches.NONE);
    assertThat(assignment.decisions()).hasSize(1);
  }

  // B24
  @ParameterizedTest
  @EnumSource
  void childrenWeighWhereOccupancyIsKnownAndDoNotWhereItIsNot(AdpRouterKind kind) {
    List<Request> requests =
        List.of(
            Request.builder(1, new int[10]).targetRank(0).children(3).build(),
            Request.builder(2, new int[10]).targetRank(0).build());
    List<RankState> known = new ArrayList<>(idle(2));
    known.replaceAll(state -> state.withOccupancy(0, occupancy(100, 0)));
    AdpRouter reader = router(kind, new BlockDemand(4, true), 2);
    assertThat(perRank(reader.route(known, requests, PrefixMatches.NONE, 4))).containsExactly(1, 1);
    assertThat(perRank(reader.route(idle(2), requests, PrefixMatches.NONE, 4)))
        .containsExactly(2, 0);
    assertThat(perRank(router(kind, null, 2).route(known, requests, PrefixMatches.NONE, 4)))
        .containsExactly(2, 0);
  }

  // B25
  @Test
  void promptsAreGroupedByTheirFirst64TokensLongestFirst() {
    int[] shared = IntStream.range(0, 70).toArray();
    int[] longer = Arrays.copyOf(shared, 90);
    longer[65] = -1;
    int[] other = Arrays.copyOf(shared, 100);
    other[63] = 0;
    List<Request> requests =
        List.of(
            Request.builder(1, shared).build(),
            Request.builder(2, longer).build(),
            Request.builder(3, other).build());
    Assignment assignment = route(kvCacheAware(0.1, false), idle(4), requests, PrefixMatches.NONE);
    assertThat(assignment.decisions().stream().map(decision -> decision.request().id()))
        .containsExactly(3L, 2L, 1L);
  }

  // B26
  @ParameterizedTest
  @EnumSource
  void aRankWhosePoolIsFullOfOutputIsPassedOver(AdpRouterKind kind) {
    List<RankState> states =
        List.of(
            new RankState(0, 1, 10).withOccupancy(0, occupancy(2, 0)),
            new RankState(1, 1, 500).withOccupancy(0, occupancy(100, 0)));
    AdpRouter router = router(kind, new BlockDemand(4, true), 2);
    assertThat(perRank(route(router, states, prompts(1, 40), PrefixMatches.NONE)))
        .containsExactly(0, 1);
  }

  // B26
  @ParameterizedTest
  @EnumSource
  void fullPoolsDoNotKeepIdleRanksFromWork(AdpRouterKind kind) {
    List<RankState> states = new ArrayList<>(idle(2));
    states.replaceAll(state -> state.withOccupancy(3, occupancy(2, 0)));
    AdpRouter router = router(kind, new BlockDemand(4, true), 2);
    assertThat(route(router, states, prompts(2, 40), PrefixMatches.NONE).unassigned())
        .as("projected lets the second wait for the blocks of the first")
        .hasSize(kind == AdpRouterKind.PROJECTED ? 1 : 0);
  }

  // B27
  @Test
  void onlyWholeBlocksOfAMatchSpareBlocks() {
    AdpRouter router = router(AdpRouterKind.KV_CACHE_AWARE, new BlockDemand(4, true), 2);
    List<RankState> states =
        List.of(
            new RankState(0, 0, 0).withOccupancy(0, occupancy(9, 0)),
            new RankState(1, 0, 0).withOccupancy(0, occupancy(10, 0)));
    assertThat(perRank(route(router, states, prompts(1, 40), heldBy(0, 2, 1, 5))))
        .as("1 of 10 blocks is held, 9 are free")
        .containsExactly(1, 0);
    List<RankState> tighter =
        List.of(new RankState(0, 0, 0).withOccupancy(0, occupancy(8, 0)), states.get(1));
    assertThat(perRank(route(router, tighter, prompts(1, 40), heldBy(0, 2, 1, 5))))
        .containsExactly(0, 1);
  }

  // B28
  @Test
  void explicitPlacementsAreChargedWhereUpstreamChargesThem() {
    List<Request> named = List.of(Request.builder(1, new int[100]).targetRank(0).build());
    PrefixMatches held = heldBy(0, 4, 1, 30);
    assertThat(route(new DefaultAdpRouter(4), idle(4), named, held).activeTokensAfter()[0])
        .isZero();
    assertThat(route(kvCacheAware(0.1, false), idle(4), named, held).activeTokensAfter()[0])
        .isEqualTo(70);
  }

  private static AdpRouter kvCacheAware(double threshold, boolean warmup) {
    return new KvCacheAwareAdpRouter(
        4, new KvCacheRoutingOptions(1, threshold, 2, warmup, true, false));
  }

  private static AdpRouter conversation(
      int ranks, double multiplier, NewConversationPlacement placement) {
    return new ConversationAdpRouter(ranks, multiplier, 1000, placement, null);
  }

  private static AdpRouter router(AdpRouterKind kind, BlockDemand demand, int ranks) {
    return Objects.requireNonNull(kind).create(ranks, AttentionDpConfig.DEFAULT, demand, false);
  }

  private static Assignment route(
      AdpRouter router, List<RankState> states, List<Request> requests, PrefixMatches matches) {
    return router.route(states, requests, matches, HARD_CAP);
  }

  private static List<RankState> idle(int ranks) {
    return states(new int[ranks]);
  }

  private static List<RankState> states(int... activeRequests) {
    List<RankState> states = new ArrayList<>();
    for (int active : activeRequests) {
      states.add(new RankState(states.size(), active, 10L * active));
    }
    return states;
  }

  private static List<Request> prompts(int count, int tokens) {
    List<Request> requests = new ArrayList<>();
    for (int id = 0; id < count; id++) {
      requests.add(Request.builder(id, new int[tokens]).build());
    }
    return requests;
  }

  private static PrefixMatches heldBy(int rank, int ranks, int requests, int tokens) {
    PrefixMatches matches = new PrefixMatches(ranks, requests);
    for (int i = 0; i < requests; i++) {
      matches.set(rank, i, tokens);
    }
    return matches;
  }

  private static Occupancy occupancy(long free, long cached) {
    return new Occupancy(1000, free, cached, 1000 - free - cached, 0, 0, 0, 0);
  }

  private static int[] perRank(Assignment assignment) {
    int[] placed = new int[assignment.ranks()];
    assignment.decisions().forEach(decision -> placed[decision.rank()]++);
    return placed;
  }
}
