package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.model.RankId;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every router that chooses workers. */
class WorkerRouterContractTest {

  /** A test of each policy. */
  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  @Retention(RetentionPolicy.RUNTIME)
  private @interface EachPolicy {}

  private static FleetRequestBuilder request() {
    return FleetRequest.builder(1, Prompt.of("some prompt"));
  }

  private static FleetRequestBuilder named(String conversation) {
    return request().conversationId(conversation);
  }

  private static WorkerRouter<?> router(String policy) {
    return (WorkerRouter<?>) FleetRouterKind.named(policy).create(Map.of(), FleetRouterSetup.of(1));
  }

  private static NamedFleet fleet(String policy, String... workers) {
    return new NamedFleet(router(policy), workers);
  }

  private static Refusal refusal(RouteOutcome outcome) {
    assertThat(outcome).isInstanceOf(RouteOutcome.Refused.class);
    assertThat(((RouteOutcome.Refused) outcome).message()).isNotBlank();
    return ((RouteOutcome.Refused) outcome).refusal();
  }

  @EachPolicy
  void itIsFoundByItsNameInAnyCase(String policy) {
    FleetRouterProvider provider = FleetRouterKind.named(policy);
    assertThat(FleetRouterKind.named(policy.toUpperCase(Locale.ROOT))).isSameAs(provider);
    assertThat(provider.name()).isEqualTo(policy);
    assertThat(router(policy).name()).isEqualTo(policy);
    assertThat(provider.choosesRanks()).isFalse();
    assertThat(provider.followsBlocks()).isEqualTo(policy.equals("kv_cache_aware"));
  }

  @Test
  void withoutANameItIsRoundRobin() {
    assertThat(FleetRouterKind.named(null).name()).isEqualTo("round_robin");
  }

  /** B19: load counts from the choice on, not from the next poll. */
  @EachPolicy
  void loadCountsAtOnce(String policy) {
    NamedFleet fleet = fleet(policy, "s1", "s2", "s3");
    assertThat(
            List.of(fleet.worker(named("a")), fleet.worker(named("b")), fleet.worker(named("c"))))
        .containsExactlyInAnyOrder("s1", "s2", "s3");
    assertThat(List.of("s1", "s2", "s3")).allMatch(worker -> fleet.load(worker) > 0);
  }

  @EachPolicy
  void anAttemptEndsOnce(String policy) {
    NamedFleet fleet = fleet(policy, "s1");
    long first = fleet.place(named("a")).attempt();
    long second = fleet.place(named("a")).attempt();
    long one = fleet.load("s1") / 2;
    WorkerRouter<?> router = fleet.router();
    assertThat(router.onFinished(first, true)).isTrue();
    assertThat(router.onFinished(first, true)).isFalse();
    assertThat(router.onFinished(second + 1, true)).isFalse();
    assertThat(fleet.load("s1")).isEqualTo(one);
    assertThat(router.onFinished(second, false)).isTrue();
    assertThat(fleet.load("s1")).isZero();
  }

  @EachPolicy
  void progressIsKnownOfAttemptsInFlightOnly(String policy) {
    NamedFleet fleet = fleet(policy, "s1");
    WorkerRouter<?> router = fleet.router();
    long attempt = fleet.place(request()).attempt();
    long load = fleet.load("s1");
    assertThat(router.onPrefillDone(attempt)).isTrue();
    assertThat(router.onTokens(attempt, 5)).isTrue();
    assertThat(fleet.load("s1")).isEqualTo(load);
    router.onFinished(attempt, true);
    assertThat(router.onPrefillDone(attempt)).isFalse();
    assertThat(router.onTokens(attempt, 5)).isFalse();
    assertThatIllegalArgumentException().isThrownBy(() -> router.onTokens(attempt, 0));
  }

  @EachPolicy
  void aWorkerThatComesBackStartsWithoutLoad(String policy) {
    NamedFleet fleet = fleet(policy, "s1");
    long old = fleet.place(request()).attempt();
    assertThat(fleet.remove("s1")).isTrue();
    assertThat(fleet.load("s1")).isZero();
    assertThat(fleet.add("s1")).isTrue();
    assertThat(fleet.router().onPrefillDone(old)).isFalse();
    long fresh = fleet.place(request()).attempt();
    long one = fleet.load("s1");
    assertThat(fleet.router().onFinished(old, true)).isFalse();
    assertThat(fleet.load("s1")).as("the earlier worker's request").isEqualTo(one);
    fleet.router().onFinished(fresh, true);
    assertThat(fleet.load("s1")).isZero();
  }

  @EachPolicy
  void aWorkerExistsFromItsFirstRankToItsLast(String policy) {
    WorkerRouter<?> router = router(policy);
    RankId first = new RankId(5, 0);
    RankId second = new RankId(5, 3);
    assertThat(router.addRank(first, RankCapacity.UNKNOWN)).isTrue();
    assertThat(router.addRank(second, RankCapacity.UNKNOWN)).isTrue();
    assertThat(router.addRank(second, new RankCapacity(10, 10))).isFalse();
    NamedFleet fleet = new NamedFleet(router);
    Placement placed = NamedFleet.placement(fleet.route(request()));
    assertThat(placed.rank()).isEqualTo(RankId.anyOf(5));
    assertThat(placed.eligible()).isEqualTo(1);
    assertThat(router.removeRank(first)).isTrue();
    assertThat(router.removeRank(first)).isFalse();
    assertThat(router.onPrefillDone(placed.attempt())).isTrue();
    assertThat(refusal(fleet.route(request().filter(RankFilter.exclude(Set.of(second))))))
        .as("the only rank left")
        .isEqualTo(Refusal.NO_ENDPOINT);
    assertThat(router.removeRank(second)).isTrue();
    assertThat(router.onPrefillDone(placed.attempt())).isFalse();
    assertThat(refusal(fleet.route(request()))).isEqualTo(Refusal.NO_ENDPOINT);
  }

  @EachPolicy
  void loadsAreRequestsInFlightByAscendingWorker(String policy) {
    WorkerRouter<?> router = router(policy);
    for (long worker : new long[] {-1, 3, 1}) {
      router.addRank(new RankId(worker, 0), RankCapacity.UNKNOWN);
      router.addRank(new RankId(worker, 1), RankCapacity.UNKNOWN);
    }
    NamedFleet fleet = new NamedFleet(router);
    for (int i = 0; i < 2; i++) {
      fleet.route(request().filter(RankFilter.pinWorker(3)));
    }
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    assertThat(IntStream.range(0, loads.size()).mapToObj(loads::rank))
        .containsExactly(RankId.anyOf(1), RankId.anyOf(3), RankId.anyOf(-1));
    assertThat(IntStream.range(0, loads.size()).map(loads::activeRequests))
        .containsExactly(0, 2, 0);
    assertThat(loads.activeBlocks(1) + loads.activePrefillTokens(1)).isZero();
  }

  @EachPolicy
  void severalWorkersMayBeExcluded(String policy) {
    NamedFleet fleet = fleet(policy, "s1", "s2", "s3", "s4");
    for (int i = 0; i < 3; i++) {
      Placement placed = fleet.place(named("a"), "s1", "s2", "s4");
      assertThat(fleet.name(placed.rank())).isEqualTo("s3");
      assertThat(placed.eligible()).isEqualTo(1);
      RankFilter ranks = fleet.withoutRanksOf(Set.of("s1", "s3", "s4"));
      assertThat(fleet.worker(named("a").filter(ranks))).isEqualTo("s2");
    }
    RankFilter two = RankFilter.allow(fleet.id("s2"), fleet.id("s4"));
    assertThat(fleet.worker(named("b").filter(two))).isIn("s2", "s4");
    assertThat(refusal(fleet.route(named("b").filter(fleet.without("s1", "s2", "s3", "s4")))))
        .isEqualTo(Refusal.NO_ENDPOINT);
  }

  /** A round-robin turn of an excluded worker passes to the next one. */
  @Test
  void excludedWorkersGiveTheirTurnToTheNext() {
    NamedFleet fleet = fleet("round_robin", "s1", "s2", "s3", "s4");
    List<String> chosen = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      chosen.add(fleet.worker(request(), "s1", "s2"));
    }
    assertThat(chosen).containsExactly("s3", "s4", "s3", "s4");
    assertThat(fleet.worker(request())).isEqualTo("s1");
  }

  @EachPolicy
  void aDemandedWorkerServesAndTakesNoTurn(String policy) {
    NamedFleet fleet = fleet(policy, "s1", "s2", "s3");
    for (RankFilter pin :
        List.of(
            RankFilter.pinWorker(fleet.id("s2")), RankFilter.pin(new RankId(fleet.id("s2"), 1)))) {
      Placement placed = NamedFleet.placement(fleet.route(named("a").filter(pin)));
      assertThat(fleet.name(placed.rank())).isEqualTo("s2");
      assertThat(placed.reason()).isEqualTo(Reason.EXPLICIT);
      fleet.finish(placed, false);
    }
    assertThat(List.of(fleet.worker(named("b")), fleet.worker(named("c"))))
        .isEqualTo(List.of("s1", policy.equals("round_robin") ? "s2" : "s3"));
  }

  @EachPolicy
  void aDemandThatCannotBeMetIsRefused(String policy) {
    NamedFleet fleet = fleet(policy, "s1", "s2");
    long s1 = fleet.id("s1");
    assertThat(refusal(fleet.route(request().filter(RankFilter.pinWorker(77)))))
        .isEqualTo(Refusal.PINNED_UNKNOWN);
    assertThat(refusal(fleet.route(request().filter(RankFilter.pin(new RankId(s1, 9))))))
        .isEqualTo(Refusal.PINNED_UNKNOWN);
    RankFilter contradiction = new RankFilter(null, Set.of(RankId.anyOf(s1)), s1, null);
    assertThat(refusal(fleet.route(request().filter(contradiction))))
        .isEqualTo(Refusal.PINNED_NOT_ALLOWED);
    assertThat(fleet.load("s1") + fleet.load("s2")).isZero();
  }

  @EachPolicy
  void aWorkerAddedAsAWholeHasEveryRank(String policy) {
    WorkerRouter<?> router = router(policy);
    router.addRank(RankId.anyOf(4), RankCapacity.UNKNOWN);
    NamedFleet fleet = new NamedFleet(router);
    RankFilter pin = RankFilter.pin(new RankId(4, 6));
    assertThat(NamedFleet.placement(fleet.route(request().filter(pin))).rank())
        .isEqualTo(RankId.anyOf(4));
  }

  /** The router has no tokenizer; the caller must ask first. */
  @Test
  void missingTokensAreRefused() {
    Map<String, Map<String, Object>> readers =
        Map.of("kv_cache_aware", Map.of(), "conversation", Map.of("use_token_ids", true));
    readers.forEach(
        (policy, args) -> {
          WorkerRouter<?> router =
              (WorkerRouter<?>) FleetRouterKind.named(policy).create(args, FleetRouterSetup.of(1));
          router.addRank(new RankId(1, 0), RankCapacity.UNKNOWN);
          FleetRequest text = request().build();
          assertThat(router.readsTokens(text)).isTrue();
          assertThat(refusal(router.route(text))).isEqualTo(Refusal.UNSUPPORTED_REQUEST);
          assertThat(router.load(1)).isZero();
          FleetRequest tokenised = request().tokens(text.prompt().codePoints()).build();
          assertThat(router.readsTokens(tokenised)).isFalse();
          NamedFleet.placement(router.route(tokenised));
        });
    assertThat(router("round_robin").readsTokens(request().build())).isFalse();
    assertThat(router("load_balancing").readsTokens(request().build())).isFalse();
    assertThat(router("conversation").readsTokens(request().build())).isFalse();
  }

  @EachPolicy
  void everyPathTellsWhetherTheTurnIsKnownToBeTheFirst(String policy) {
    NamedFleet fleet = fleet(policy, "s1", "s2");
    assertThat(fleet.place(request()).firstTurn()).as("no id").isFalse();
    boolean knows = policy.equals("conversation") || policy.equals("kv_cache_aware");
    Placement first = fleet.place(named("a"));
    assertThat(first.firstTurn()).isEqualTo(knows);
    assertThat(fleet.place(named("a")).firstTurn()).isFalse();
    assertThat(fleet.place(named("a"), fleet.name(first.rank())).firstTurn())
        .as("known, though its worker is excluded")
        .isFalse();
  }
}
