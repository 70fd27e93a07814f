package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.whatif.WhatIfCounts;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.WitnessedWorkload.Call;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.workload.ClosedLoop;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FleetReplayTest {

  private static final long MS = 1_000_000;

  private static final List<String> POLICIES =
      List.of("round_robin", "load_balancing", "kv_cache_aware", "conversation");

  @ParameterizedTest
  @EnumSource(AdpRouterKind.class)
  void oneWorkerIsTheWorkerWithoutALayer(AdpRouterKind router) {
    ReplaySettings settings = settings(3, 800).withRouter(router);
    ReplayResult alone =
        Replay.run(sessions(20), settings, RankPools.Place.HOST, ReplayProgress.SILENT);

    for (String policy : POLICIES) {
      assertThat(run(sessions(20), settings, fleet(1, policy)))
          .usingRecursiveComparison()
          .ignoringFields("wallNs", "fleet")
          .isEqualTo(alone);
    }
    assertThat(alone.rejected()).as("rejections take part").isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void aReplayIsTheSameEachTime(String router) {
    ReplaySettings settings = settings(2, 1_500).withRouter(AdpRouterKind.KV_CACHE_AWARE);

    ReplayResult first = run(sessions(30), settings, fleet(3, router));
    ReplayResult second = run(sessions(30), settings, fleet(3, router));

    assertThat(second).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(first);
    assertThat(first.sum(RankResult::evictedBlocks)).as("pools are full").isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void everyRequestIsChosenForOnceAndEndsOnce(String router) {
    WitnessedWorkload workload = new WitnessedWorkload(sessions(30));

    ReplayResult result = run(workload, settings(2, 800), fleet(3, router));

    assertThat(result.rejected()).isPositive();
    assertThat(result.completed() + result.rejected()).isEqualTo(result.requests());
    assertThat(sum(result.fleet().decisions().values().stream().mapToLong(n -> n)))
        .isEqualTo(result.requests());
    assertThat(sum(result.routedPerWorker().requests().stream().mapToLong(n -> n)))
        .isEqualTo(sum(result.decisions().values().stream().mapToLong(n -> n)));
    assertThat(result.ranks()).hasSize(6);
    assertThat(workload.calls.stream().filter(Call::arrival).map(Call::requestId))
        .doesNotHaveDuplicates()
        .hasSize((int) result.requests());
    assertThat(workload.calls.stream().filter(call -> !call.arrival()).map(Call::requestId))
        .doesNotHaveDuplicates()
        .hasSize((int) result.requests());
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void nothingIsReportedBeforeItHappens(String router) {
    for (Workload workload :
        new Workload[] {sessions(30), new ClosedLoop(shared(200), 20), sharedOpen(200)}) {
      WitnessedWorkload witnessed = new WitnessedWorkload(workload);
      run(witnessed, settings(2, 900), fleet(4, router));

      assertThat(witnessed.calls).extracting(Call::atNs).as(workload.name()).isSorted();
    }
  }

  /** Each request has a prompt of a different length; one arrives every millisecond. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Prompts(int... lengths) implements RequestSequence {
    @Override
    public String name() {
      return "prompts";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of();
    }

    @Override
    public int size() {
      return lengths.length;
    }

    @Override
    public long arrivalNs(int index) {
      return index * MS;
    }

    @Override
    public Request request(int index) {
      int[] tokens = new int[lengths[index]];
      TokenExpansion.fill(index, tokens, 0, tokens.length);
      return Request.builder(index, tokens).build();
    }
  }

  @Test
  void workersDoNotWaitForEachOther() {
    Workload longAndShort = new OpenLoop(new Prompts(4_000, 64), 1);

    ReplayResult together =
        Replay.run(longAndShort, settings(2, 8_192), RankPools.Place.HOST, ReplayProgress.SILENT);
    ReplayResult apart = run(longAndShort, settings(1, 8_192), fleet(2, "round_robin"));

    assertThat(apart.queue().maxMs()).as("the second starts at once").isZero();
    assertThat(together.queue().maxMs()).as("ranks are in lock-step").isGreaterThan(50);
    assertThat(apart.ttft().p50Ms()).isLessThan(apart.ttft().maxMs() / 3);
  }

  @Test
  void blockEventsLetTheRouterMatchPrefixes() {
    ReplaySettings settings = settings(2, 20_000);
    ReplayResult blind = run(sharedOpen(300), settings, fleet(4, "round_robin"));
    ReplayResult told = run(sharedOpen(300), settings, eventsAlone(0));
    ReplayResult tooLate = run(sharedOpen(300), settings, eventsAlone(Long.MAX_VALUE / 2));

    assertThat(told.tokenHitRate()).isGreaterThan(blind.tokenHitRate() + 0.05);
    assertThat(tooLate.tokenHitRate())
        .as("a router that learns nothing balances")
        .isCloseTo(blind.tokenHitRate(), within(0.05));
    assertThat(told.upperBoundTokenHitRate())
        .as("one pool for everything")
        .isEqualTo(blind.upperBoundTokenHitRate());
  }

  @Test
  void cacheAwareRoutingBeatsRoundRobinOnSharedPrefixes() {
    for (AdpRouterKind router : AdpRouterKind.values()) {
      ReplaySettings settings = settings(4, 20_000).withRouter(router);
      assertThat(run(sharedOpen(300), settings, fleet(4, "kv_cache_aware")).tokenHitRate())
          .as(router.id())
          .isGreaterThan(run(sharedOpen(300), settings, fleet(4, "round_robin")).tokenHitRate());
    }
  }

  @Test
  void whatIfRoutersChangeNothingAndFindWhatTheyWouldFind() {
    ReplaySettings settings = settings(1, 40_000).withHashFormat(HashFormat.KVASIR);
    FleetSettings fleet = fleet(4, "conversation");

    ReplayResult asked =
        run(
            sharedOpen(300),
            settings,
            fleet.withWhatIf(
                List.of(FleetRouterKind.named("round_robin"), FleetRouterKind.named("cost"))));

    assertThat(asked)
        .usingRecursiveComparison()
        .ignoringFields("wallNs", "fleet")
        .isEqualTo(run(sharedOpen(300), settings, fleet));
    List<WhatIfCounts> counts = asked.fleet().whatIf();
    assertThat(counts)
        .extracting(WhatIfCounts::router)
        .containsExactly("conversation", "round_robin", "cost");
    for (WhatIfCounts count : counts) {
      ReplayResult actual = run(sharedOpen(300), settings, fleet(4, count.router()));
      assertThat(count.hitRate()).as(count.router()).isCloseTo(actual.tokenHitRate(), within(0.03));
      assertThat(count.placed().values().stream().mapToLong(n -> n).sum()).isEqualTo(300);
    }
  }

  @Test
  void conversationsStayOnTheirWorker() {
    ReplaySettings settings = settings(2, 100_000).withRouter(AdpRouterKind.CONVERSATION);

    ReplayResult sticky = run(sessions(30), settings, fleet(4, "conversation"));
    ReplayResult dealt = run(sessions(30), settings, fleet(4, "round_robin"));

    assertThat(sticky.fleet().decisions())
        .isEqualTo(Map.of(Reason.FALLBACK.id(), 30L, Reason.STICKY.id(), sticky.requests() - 30));
    assertThat(sticky.decisions().get(AdpReason.STICKY))
        .as("a later turn goes to the worker whose ADP router bound the conversation")
        .isEqualTo(sticky.requests() - 30);
    assertThat(dealt.decisions().get(AdpReason.STICKY)).isLessThan(dealt.requests() - 30);
    assertThat(sticky.tokenHitRate()).isGreaterThan(dealt.tokenHitRate());
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void firstTurnsArriveAtTheRankAsSuch(String router) {
    KvCacheRoutingOptions firstTurns = new KvCacheRoutingOptions(1, 0.1, 2, false, true, true);
    ReplaySettings settings =
        settings(2, 100_000)
            .withRouting(
                new ReplaySettings.Routing(
                    AdpRouterKind.KV_CACHE_AWARE,
                    AttentionDpConfig.of(firstTurns),
                    WaitingQueuePolicy.FCFS));

    ReplayResult result = run(sessions(30), settings, fleet(4, router));

    assertThat(result.decisions().get(AdpReason.FIRST_TURN)).isEqualTo(30);
  }

  @Test
  void aRouterThatFollowsBlocksNeedsItsOwnNaming() {
    ReplaySettings others = new ReplaySettings(1, 1_000, 32);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> run(sessions(3), others, fleet(2, "kv_cache_aware")))
        .withMessage("kv_cache_aware needs blocks named trtllm-v1, not kvasir");
  }

  @Test
  void lostEventsAreADefect() {
    RankPools.Place forgetful =
        (ranks, shape) -> RankPools.Place.HOST.open(ranks, shape.withEvents(2));

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                Replay.run(
                    sessions(30),
                    settings(1, 20_000),
                    fleet(2, "kv_cache_aware"),
                    forgetful,
                    ReplayProgress.SILENT))
        .withMessageStartingWith("events of rank 0 are lost before number ");
  }

  @Test
  void aRetiredRankGetsNoRequestAndItsBlocksAreForgotten() {
    ReplaySettings settings = settings(2, 20_000);
    FleetSettings fleet = fleet(2, "kv_cache_aware");

    ReplayResult undisturbed = run(sessions(30), settings, fleet);
    ReplayResult result =
        Replay.run(
            sessions(30),
            settings,
            fleet,
            RankPools.Place.HOST,
            ReplayTest.losingRanks(60, 60),
            ReplayProgress.SILENT);

    assertThat(result.completed()).isEqualTo(undisturbed.completed());
    assertThat(result.outputTokens()).isEqualTo(undisturbed.outputTokens());
  }

  @Test
  void aWorkerWithoutRanksEndsTheReplay() {
    assertThatThrownBy(
            () ->
                Replay.run(
                    sessions(30),
                    settings(1, 20_000),
                    fleet(2, "round_robin"),
                    RankPools.Place.HOST,
                    ReplayTest.losingRanks(60, 60),
                    ReplayProgress.SILENT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageMatching("all ranks of w[01] are retired; the replay ends with \\d+ of .*");
  }

  private static long sum(LongStream values) {
    return values.sum();
  }

  private static FleetSettings fleet(int workers, String router) {
    return FleetSettings.of(workers, router);
  }

  private static FleetSettings eventsAlone(long delayNs) {
    return fleet(4, "kv_cache_aware")
        .withArgs(Map.of("track_routed_blocks", false))
        .withEventDelayNs(delayNs);
  }

  private static MultiTurn sessions(int count) {
    return new MultiTurn(
        new MultiTurn.Shape(
            count,
            new Starts.Closed(12, 0),
            300,
            new IntRange(2, 4),
            new LognormalTokens(80, 1),
            new IntRange(10, 40),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 0.05, 0),
            11));
  }

  private static SharedPrefix shared(int requests) {
    return new SharedPrefix(
        new SharedPrefix.Shape(
            requests, 24, 640, 0, new LognormalTokens(120, 1), new IntRange(5, 30), 40, 7));
  }

  private static Workload sharedOpen(int requests) {
    return new OpenLoop(shared(requests), 1);
  }

  private static ReplaySettings settings(int ranks, int poolTokens) {
    return new ReplaySettings(ranks, poolTokens, 32).withHashFormat(HashFormat.TRTLLM_V1);
  }

  private static ReplayResult run(Workload workload, ReplaySettings settings, FleetSettings fleet) {
    return Replay.run(workload, settings, fleet, RankPools.Place.HOST, ReplayProgress.SILENT);
  }
}
