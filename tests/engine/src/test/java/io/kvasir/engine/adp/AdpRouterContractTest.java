package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holds of every router. */
class AdpRouterContractTest {

  private static final int HISTORIES = 500;
  private static final AttentionDpConfig WARMUP = warmup(2.0);
  private static final Set<AdpReason> HARD_CAPPED =
      Set.of(AdpReason.EXPLICIT, AdpReason.WARMUP, AdpReason.STICKY);

  @ParameterizedTest
  @EnumSource
  void everyRequestIsEitherAssignedOnceOrReturned(AdpRouterKind kind) {
    forRandomCalls(
        kind,
        (batch, assignment, weight, seed) -> {
          Set<Request> seen = Collections.newSetFromMap(new IdentityHashMap<>());
          for (Decision decision : assignment.decisions()) {
            assertThat(seen.add(decision.request())).as("seed %d", seed).isTrue();
          }
          for (Request request : assignment.unassigned()) {
            assertThat(seen.add(request)).as("seed %d", seed).isTrue();
          }
          assertThat(seen).as("seed %d", seed).hasSize(batch.requests().size());
        });
  }

  @ParameterizedTest
  @EnumSource
  void noRankIsFilledBeyondItsCaps(AdpRouterKind kind) {
    forRandomCalls(
        kind,
        (batch, assignment, weight, seed) -> {
          Map<Integer, Integer> active = activeByRank(batch.states());
          for (Decision decision : assignment.decisions()) {
            boolean targeted = HARD_CAPPED.contains(decision.reason());
            assertThat(active).as("seed %d: live ranks", seed).containsKey(decision.rank());
            boolean mustPlace =
                kind == AdpRouterKind.CONVERSATION
                    && Collections.min(active.values()) >= batch.maxActiveRequests();
            if (mustPlace && !targeted) {
              active.merge(decision.rank(), weight.applyAsInt(decision), Integer::sum);
              continue;
            }
            int before = active.get(decision.rank());
            active.merge(decision.rank(), weight.applyAsInt(decision), Integer::sum);
            assertThat(before)
                .as("seed %d: requests on rank %d before %s", seed, decision.rank(), decision)
                .isLessThan(
                    targeted ? batch.maxActiveRequests() : assignment.expectedActiveRequests());
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void returnsRequestsOnlyWhenEveryRankIsFull(AdpRouterKind kind) {
    forRandomCalls(
        kind,
        (batch, assignment, weight, seed) -> {
          Map<Integer, Integer> active = activeByRank(batch.states());
          assignment
              .decisions()
              .forEach(
                  decision ->
                      active.merge(decision.rank(), weight.applyAsInt(decision), Integer::sum));
          boolean roomCounts =
              kind == AdpRouterKind.PROJECTED
                  && batch.states().stream().anyMatch(state -> state.occupancy() != null);
          if (!assignment.unassigned().isEmpty() && !roomCounts) {
            assertThat(Collections.min(active.values()))
                .as("seed %d: requests on the emptiest rank", seed)
                .isGreaterThanOrEqualTo(batch.maxActiveRequests());
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void twoInstancesWithOneHistoryAgree(AdpRouterKind kind) {
    for (long seed = 0; seed < HISTORIES; seed++) {
      RandomBatches batches = new RandomBatches(new SplittableRandom(seed));
      int ranks = batches.ranks();
      AttentionDpConfig config = batches.config();
      BlockDemand demand = batches.demand();
      AdpRouter one = kind.create(ranks, config, demand, false);
      AdpRouter other = kind.create(ranks, config, demand, true);
      for (int call = 0; call < 3; call++) {
        RandomBatches.Batch batch = batches.next(ranks);
        assertThat(outcome(route(one, batch)))
            .as("seed %d", seed)
            .isEqualTo(outcome(route(other, batch)));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAnswerIsNotChangedByLaterCalls(AdpRouterKind kind) {
    RandomBatches batches = new RandomBatches(new SplittableRandom(7));
    AdpRouter router = kind.create(4, WARMUP, null, true);
    Assignment first = route(router, batches.next(4));
    List<Object> before = outcome(first);
    for (int call = 0; call < 20; call++) {
      route(router, batches.next(4));
    }
    assertThat(outcome(first)).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void anEmptyBatchPlacesNothingAndStillReportsTheTarget(AdpRouterKind kind) {
    Assignment assignment =
        kind.create(2, AttentionDpConfig.DEFAULT, null, false)
            .route(states(5, 0), List.of(), PrefixMatches.NONE, 10);
    assertThat(assignment.decisions()).isEmpty();
    assertThat(assignment.unassigned()).isEmpty();
    assertThat(assignment.expectedActiveRequests())
        .isEqualTo(kind == AdpRouterKind.DEFAULT || kind == AdpRouterKind.PROJECTED ? 5 : 6);
  }

  @ParameterizedTest
  @EnumSource
  void badInputNamesTheFieldAndChangesNothing(AdpRouterKind kind) {
    AdpRouter router = kind.create(2, WARMUP, null, false);
    List<Request> requests = List.of(request(1), request(2));
    refuses(
        router, List.of(), requests, 4, "states must have 1 to 2 entries, one for each live rank");
    refuses(router, states(0, 0, 0), requests, 4, "not 3");
    List<RankState> swapped = new ArrayList<>(states(0, 0));
    Collections.reverse(swapped);
    refuses(router, swapped, requests, 4, "states[1].rank must be within 2 to 1, not 0");
    refuses(router, states(0, -1), requests, 4, "states[1].activeRequests must be at least 0");
    refuses(
        router,
        List.of(new RankState(0, 0, -3), new RankState(1, 0, 0)),
        requests,
        4,
        "states[0].activeTokens must be at least 0, not -3");
    refuses(router, states(0, 0), requests, -1, "maxActiveRequests must be at least 0, not -1");
    Request stray = Request.builder(9, new int[3]).targetRank(2).build();
    refuses(
        router,
        states(0, 0),
        List.of(request(1), stray),
        4,
        "request 9: targetRank must be within 0 to 1, not 2");

    Assignment afterwards = router.route(states(0, 0), requests, PrefixMatches.NONE, 4);
    Assignment fresh =
        kind.create(2, WARMUP, null, false).route(states(0, 0), requests, PrefixMatches.NONE, 4);
    assertThat(outcome(afterwards)).isEqualTo(outcome(fresh));
  }

  @ParameterizedTest
  @EnumSource
  void aRankWithoutAStateGetsNothingAndDoesNotCount(AdpRouterKind kind) {
    AdpRouter router = kind.create(3, warmup(1.0), null, false);
    List<RankState> live = List.of(new RankState(0, 1, 9), new RankState(2, 0, 5));
    PrefixMatches matches = new PrefixMatches(3, 4);
    for (int request = 0; request < 4; request++) {
      matches.set(1, request, 3);
    }
    List<Request> requests =
        List.of(
            Request.builder(1, new int[3]).targetRank(1).build(),
            Request.builder(2, new int[3]).targetRank(2).build(),
            request(3),
            request(4));
    Assignment assignment = router.route(live, requests, matches, 100);
    assertThat(assignment.decisions()).hasSize(4);
    assertThat(assignment.assignedTo(1)).isEmpty();
    assertThat(assignment.assignedTo(2)).contains(requests.get(1));
    assertThat(assignment.ranks()).isEqualTo(3);
    assertThat(assignment.activeTokensAfter()).hasSize(3);
    assertThat(assignment.activeTokensAfter()[1]).isZero();
    assertThat(assignment.expectedActiveRequests()).as("5 requests on 2 ranks").isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource
  void refusesAnInstanceWithoutRanks(AdpRouterKind kind) {
    assertThatThrownBy(() -> kind.create(0, AttentionDpConfig.DEFAULT, null, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ranks must be at least 1, not 0");
  }

  @ParameterizedTest
  @EnumSource
  void isFoundByItsOwnName(AdpRouterKind kind) {
    assertThat(kind.create(1, AttentionDpConfig.DEFAULT, null, false).name()).isEqualTo(kind.id());
    assertThat(AdpRouterKind.named(kind.id())).isEqualTo(kind);
  }

  @Test
  void anUnknownNameIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> AdpRouterKind.named("random"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "router must be one of default, kv_cache_aware, conversation, projected,"
                + " not 'random'");
  }

  private static AttentionDpConfig warmup(double multiplier) {
    return AttentionDpConfig.of(new KvCacheRoutingOptions(1.0, 0.1, multiplier, true, true, false));
  }

  private static Map<Integer, Integer> activeByRank(List<RankState> states) {
    return new TreeMap<>(
        states.stream().collect(Collectors.toMap(RankState::rank, RankState::activeRequests)));
  }

  /** Looks at one answer. */
  private interface Check {
    void on(
        RandomBatches.Batch batch,
        Assignment assignment,
        ToIntFunction<Decision> weight,
        long seed);
  }

  private static void forRandomCalls(AdpRouterKind kind, Check check) {
    for (long seed = 0; seed < HISTORIES; seed++) {
      RandomBatches batches = new RandomBatches(new SplittableRandom(seed));
      int ranks = batches.ranks();
      AdpRouter router = kind.create(ranks, batches.config(), batches.demand(), false);
      for (int call = 0; call < 3; call++) {
        RandomBatches.Batch batch = batches.next(ranks);
        boolean weighs =
            router.readsOccupancy()
                && batch.states().stream().anyMatch(state -> state.occupancy() != null);
        check.on(
            batch,
            route(router, batch),
            decision -> weighs ? decision.request().sequences() : 1,
            seed);
      }
    }
  }

  private static Assignment route(AdpRouter router, RandomBatches.Batch batch) {
    return router.route(
        batch.states(), batch.requests(), batch.matches(), batch.maxActiveRequests());
  }

  private static List<Object> outcome(Assignment assignment) {
    List<Object> outcome = new ArrayList<>();
    for (Decision decision : assignment.decisions()) {
      outcome.add(
          List.of(
              decision.requestIndex(),
              decision.rank(),
              decision.reason(),
              decision.matchedTokens()));
    }
    outcome.add(List.copyOf(assignment.unassigned()));
    outcome.add(assignment.expectedActiveRequests());
    outcome.add(Arrays.toString(assignment.activeTokensAfter()));
    return outcome;
  }

  private static void refuses(
      AdpRouter router,
      List<RankState> states,
      List<Request> requests,
      int maxActiveRequests,
      String message) {
    assertThatThrownBy(() -> router.route(states, requests, PrefixMatches.NONE, maxActiveRequests))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static List<RankState> states(int... activeRequests) {
    List<RankState> states = new ArrayList<>();
    for (int active : activeRequests) {
      states.add(new RankState(states.size(), active, 0));
    }
    return states;
  }

  private static Request request(long id) {
    return Request.builder(id, new int[3]).build();
  }
}
