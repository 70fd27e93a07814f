package io.kvasir.fleet.router.cost;

import static io.kvasir.fleet.router.booking.RouterFixture.placement;
import static io.kvasir.fleet.router.booking.RouterFixture.rank;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.booking.BookingOptions;
import io.kvasir.fleet.router.booking.BusyThresholds;
import io.kvasir.fleet.router.booking.QueueOptions;
import io.kvasir.fleet.router.booking.QueuePolicy;
import io.kvasir.fleet.router.booking.RouterFixture;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The policies by name, with real hashes and indexes. Blocks have 4 tokens. */
class CostProvidersTest {

  private static final long SECOND_NS = 1_000_000_000L;

  private final AtomicLong clockNs = new AtomicLong();

  private FleetRouter router(String policy, Map<String, ?> args) {
    FleetRouter router =
        FleetRouterKind.named(policy).create(args, RouterFixture.setup(clockNs::get));
    router.addRank(rank(0), RankCapacity.UNKNOWN);
    router.addRank(rank(1), RankCapacity.UNKNOWN);
    return router;
  }

  private static FleetRequestBuilder prompt(long id, int tokens) {
    return FleetRequest.builder(id, Prompt.of(new int[tokens]));
  }

  private static int matched(FleetRouter router, long id, int worker) {
    RankFilter pin = RankFilter.pin(rank(worker));
    Placement placement = placement(router.route(prompt(id, 18).filter(pin).build()));
    assertThat(router.onFinished(placement.attempt(), true)).isTrue();
    return placement.matchedBlocks();
  }

  @ParameterizedTest
  @CsvSource({"cost,true,false", "approximate,false,false", "polled,true,true"})
  void providersDescribeTheirPolicy(String name, boolean followsBlocks, boolean readsMetrics) {
    FleetRouterProvider provider = FleetRouterKind.named(name);
    assertThat(provider.name()).isEqualTo(name);
    assertThat(provider.choosesRanks()).isTrue();
    assertThat(provider.followsBlocks()).isEqualTo(followsBlocks);
    assertThat(provider.readsMetrics()).isEqualTo(readsMetrics);
    try (FleetRouter router = router(name, Map.of())) {
      assertThat(router.name()).isEqualTo(name);
      assertThat(router.readsTokens(prompt(1, 1).build())).isTrue();
      assertThat(router.addRank(rank(1), new RankCapacity(10, 10))).isFalse();
      assertThat(router.removeRank(rank(7))).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = HashFormat.class,
      names = {"KVASIR", "DYNAMO"})
  void costMatchesByBlockEvents(HashFormat naming) {
    FleetRouterSetup setup = new FleetRouterSetup(naming, 4, clockNs::get, Map.of());
    try (FleetRouter router =
        FleetRouterKind.named("cost").create(Map.of("router_predicted_ttl_secs", 0), setup)) {
      router.addRank(rank(0), RankCapacity.UNKNOWN);
      router.addRank(rank(1), RankCapacity.UNKNOWN);
      BlockHashes hashes = prompt(1, 18).build().hashes(naming, 4);
      router.onBlocks(rank(1), BlockEvent.Stored.root(hashes.sequence(), hashes.local()));
      assertThat(placement(router.route(prompt(1, 18).build())).rank()).isEqualTo(rank(1));
      assertThat(matched(router, 2, 1)).isEqualTo(4);
      assertThat(matched(router, 3, 0)).isZero();
      assertThat(matched(router, 4, 0)).as("placements do not count").isZero();
      router.removeRank(rank(1));
      router.addRank(rank(1), RankCapacity.UNKNOWN);
      assertThat(matched(router, 5, 1)).as("a removed rank holds nothing").isZero();
    }
  }

  @Test
  void costCountsPlacementsUntilTheEventsArrive() {
    try (FleetRouter router = router("cost", Map.of())) {
      assertThat(matched(router, 1, 0)).isZero();
      clockNs.addAndGet(2 * SECOND_NS - 1);
      assertThat(matched(router, 2, 0)).isEqualTo(4);
      clockNs.addAndGet(2 * SECOND_NS);
      assertThat(matched(router, 3, 0)).isZero();
    }
    try (FleetRouter router = router("cost", Map.of("router_predicted_ttl_secs", 0.5))) {
      assertThat(matched(router, 1, 0)).isZero();
      clockNs.addAndGet(SECOND_NS / 2);
      assertThat(matched(router, 2, 0)).isZero();
    }
  }

  @Test
  void approximateGoesByPlacementsAlone() {
    try (FleetRouter router = router("approximate", Map.of())) {
      BlockHashes hashes = prompt(1, 18).build().hashes(HashFormat.KVASIR, 4);
      router.onBlocks(rank(1), BlockEvent.Stored.root(hashes.sequence(), hashes.local()));
      assertThat(matched(router, 1, 1)).as("events are ignored").isZero();
      router.onBlocks(rank(1), new BlockEvent.Cleared());
      clockNs.addAndGet(120 * SECOND_NS - 1);
      assertThat(matched(router, 2, 1)).isEqualTo(4);
      clockNs.addAndGet(120 * SECOND_NS);
      assertThat(matched(router, 3, 1)).isZero();
      router.removeRank(rank(1));
      router.addRank(rank(1), RankCapacity.UNKNOWN);
      assertThat(matched(router, 4, 1)).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cost", "approximate"})
  void outputBlocksCountUnlessTurnedOff(String policy) {
    for (boolean track : new boolean[] {true, false}) {
      Map<String, ?> args = track ? Map.of() : Map.of("router_track_output_blocks", false);
      try (FleetRouter router = router(policy, args)) {
        Placement placement = placement(router.route(prompt(1, 4).build()));
        router.onTokens(placement.attempt(), 8);
        PredictedLoads loads = new PredictedLoads();
        router.loads(loads);
        assertThat(loads.activeBlocks((int) placement.rank().workerId())).isEqualTo(track ? 3 : 1);
      }
    }
  }

  @Test
  void argsReachTheirSettings() {
    Map<String, Object> args =
        Map.ofEntries(
            Map.entry("router_kv_overlap_score_credit", 0.5),
            Map.entry("router_kv_overlap_score_credit_decay", 2),
            Map.entry("router_prefill_load_scale", 3),
            Map.entry("active_request_weight", 4),
            Map.entry("router_temperature", 5),
            Map.entry("router_track_active_blocks", false),
            Map.entry("router_assume_kv_reuse", false),
            Map.entry("router_track_output_blocks", false),
            Map.entry("router_track_prefill_tokens", false),
            Map.entry("active_decode_blocks_threshold", 0.75),
            Map.entry("active_prefill_tokens_threshold", 1_000),
            Map.entry("active_prefill_tokens_threshold_frac", 1.5),
            Map.entry("router_queue_threshold", 16),
            Map.entry("router_queue_policy", "wspt"),
            Map.entry("max_queued_requests", 7),
            Map.entry("max_queued_tokens", 1L << 40),
            Map.entry("router_overlap_refresh_after_secs", 0.25),
            Map.entry("router_predicted_ttl_secs", 1.5),
            Map.entry("max_index_bytes", 1 << 20),
            Map.entry("ties", "in_turn"),
            Map.entry("explain", true));
    CostSettings settings = CostSettings.cost("cost", args);
    assertThat(settings.weights()).isEqualTo(new CostOptions(0.5, 2, 3, 4, 5, false));
    assertThat(settings.booking().options().loads())
        .isEqualTo(
            BookingOptions.DEFAULT
                .loads()
                .withKvReuse(false)
                .withOutputBlocks(false)
                .withPrefillTokens(false));
    assertThat(settings.booking().options().busyThresholds())
        .isEqualTo(new BusyThresholds(0.75, 1_000L, 1.5));
    assertThat(settings.booking().options().queue())
        .isEqualTo(new QueueOptions(16.0, QueuePolicy.WSPT, 7, 1L << 40, SECOND_NS / 4));
    assertThat(settings.booking().options().explain()).isTrue();
    assertThat(settings.booking().ttlMs()).isEqualTo(1_500);
    assertThat(settings.booking().maxIndexBytes()).isEqualTo(1 << 20);
    assertThat(CostSettings.cost("cost", Map.of("kv_overlap_score_weight", 2)).weights())
        .isEqualTo(CostOptions.DEFAULT.withOverlapScoreWeight(2));
    assertThat(CostSettings.cost("cost", Map.of("kv_overlap_score_weight", 0)).weights())
        .isEqualTo(CostOptions.DEFAULT.withOverlapScoreWeight(0));
    assertThat(args.keySet()).isSubsetOf(CostSettings.COST_KEYS).hasSize(21);
    assertThat(settings.ties()).isEqualTo(Ties.IN_TURN);
  }

  @Test
  void defaultsAreThoseOfTheDocumentation() {
    CostSettings settings = CostSettings.cost("cost", Map.of());
    assertThat(settings.weights()).isEqualTo(CostOptions.DEFAULT);
    assertThat(settings.ties()).isEqualTo(Ties.DRAWN);
    assertThat(settings.booking().options())
        .isEqualTo(
            BookingOptions.DEFAULT.withLoads(
                BookingOptions.DEFAULT.loads().withOutputBlocks(true)));
    assertThat(settings.booking().ttlMs()).isEqualTo(2_000);
    assertThat(CostSettings.approximate("approximate", Map.of()).booking().ttlMs())
        .isEqualTo(120_000);
  }

  @Test
  void requestsWaitAboveTheQueueThreshold() {
    Map<String, ?> args = Map.of("router_queue_threshold", 0, "explain", true);
    try (FleetRouter router = router("cost", args)) {
      Placement first = placement(router.route(prompt(1, 18).build()));
      assertThat(first.candidates()).hasSize(2);
      placement(router.route(prompt(2, 18).build()));
      RouteOutcome third = router.route(prompt(3, 18).build());
      assertThat(third).isInstanceOf(RouteOutcome.Waiting.class);
      router.onPrefillDone(first.attempt());
      RouteOutcome outcome = ((RouteOutcome.Waiting) third).outcome().join();
      assertThat(placement(outcome).rank()).isEqualTo(first.rank());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "cost | router_ttl_secs | 1 | router_ttl_secs is not known to cost; allowed: [kv_overlap",
        "approximate | router_predicted_ttl_secs | 1 | router_predicted_ttl_secs is not known to",
        "polled | router_temperature | 1 | router_temperature is not known to polled; allowed: [max",
        "cost | router_temperature | -1 | router_temperature must be finite and at least 0, not -1",
        "cost | router_temperature | hot | router_temperature must be a number, not hot",
        "cost | kv_overlap_score_weight | -1 | kv_overlap_score_weight must be finite and at least",
        "cost | router_prefill_load_scale | Infinity | router_prefill_load_scale must be finite and",
        "cost | explain | 1 | explain must be true or false, not 1",
        "cost | active_decode_blocks_threshold | 1.5 | active_decode_blocks_threshold must be within",
        "cost | active_prefill_tokens_threshold | 0.5 | active_prefill_tokens_threshold must be an",
        "cost | active_prefill_tokens_threshold | -1 | active_prefill_tokens_threshold must be at",
        "cost | router_queue_policy | lifo | router_queue_policy must be one of fcfs, wspt, edf, not",
        "cost | router_queue_policy | 5 | router_queue_policy must be a text, not 5",
        "cost | max_queued_requests | 0 | max_queued_requests must be at least 1, not 0",
        "cost | max_queued_tokens | 0 | max_queued_tokens must be at least 1, not 0",
        "cost | router_predicted_ttl_secs | -1 | router_predicted_ttl_secs must be within 0.001 to",
        "approximate | router_ttl_secs | 0 | router_ttl_secs must be within 0.001 to",
        "polled | max_index_bytes | 5 | max_index_bytes must be at least 1048576, not 5",
      })
  void errorsNameTheKeyAndTheRange(String policy, String key, String value, String message) {
    Object given;
    try {
      given = Double.valueOf(value);
    } catch (NumberFormatException e) {
      given = value;
    }
    Object number = given instanceof Double d && d == Math.rint(d) ? (Object) d.intValue() : given;
    Object arg = "Infinity".equals(value) ? given : number;
    assertThatThrownBy(() -> router(policy, Map.of(key, arg)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void theOlderWeightExcludesTheNewerOne() {
    assertThatThrownBy(
            () ->
                router(
                    "cost", Map.of("kv_overlap_score_weight", 1, "router_prefill_load_scale", 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "kv_overlap_score_weight is the older name of router_prefill_load_scale; set one");
  }
}
