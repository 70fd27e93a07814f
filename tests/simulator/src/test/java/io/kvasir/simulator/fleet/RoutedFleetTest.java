package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEvent.Repeats;
import io.kvasir.event.CacheGroup;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Reason;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoutedFleetTest {

  private static final int BLOCK = 16;
  private static final NativeBlockHasher HASHER = NativeBlockHasher.of(HashFormat.TRTLLM_V1, BLOCK);

  private long nextId;

  private Request.Builder request(int content, int length) {
    int[] tokens = new int[length];
    TokenExpansion.fill(content, tokens, 0, length);
    return Request.builder(nextId++, tokens);
  }

  private static HashedRequest hashed(Request request) {
    return new HashedRequest(request, HASHER.hash(request.tokens(), request.scope()));
  }

  private static RoutedFleet fleet(String router, long delayNs) {
    FleetSettings settings = FleetSettings.of(3, router).withEventDelayNs(delayNs);
    return new RoutedFleet(
        settings, HashFormat.TRTLLM_V1, BLOCK, 1, RankCapacity.UNKNOWN, LatencyTargets.NONE);
  }

  private static int worker(RoutedFleet fleet, HashedRequest request, long nowNs) {
    int worker = Objects.requireNonNull(fleet.route(request, nowNs)).worker();
    fleet.onEnded(request.request(), false, nowNs); // records nothing
    return worker;
  }

  private static FleetSettings settings(int workers, long eventDelayNs, long metricIntervalNs) {
    return new FleetSettings(
        workers,
        FleetRouterKind.named("cost"),
        Map.of(),
        eventDelayNs,
        0,
        metricIntervalNs,
        List.of());
  }

  @Test
  void settingsOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings(0, 5, 100))
        .withMessage("workers must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings(1, -1, 100))
        .withMessage("eventDelayNs must be at least 0, not -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings(1, 0, 0))
        .withMessage("metricIntervalNs must be at least 1, not 0");
  }

  @Test
  void poolsNameFullBlocksAsTrtllmDoes() {
    for (CacheScope scope :
        List.of(CacheScope.NONE, CacheScope.NONE.withLora(3).withSalt("tenant"))) {
      int[] tokens = request(1, 5 * BLOCK + 3).build().tokens();
      BlockHashes named = HASHER.hash(tokens, scope);
      long[] keys = TrtllmHash.V1_BLOCK_KEY.keys(tokens, BLOCK, scope);
      assertThat(named.sequence()).hasSize(5);
      assertThat(keys).startsWith(named.sequence());
    }
  }

  @Test
  void eventsCountFromTheirMomentAndTheDelayOn() {
    RoutedFleet fleet = fleet("kv_cache_aware", 50);
    HashedRequest asked = hashed(request(1, 5 * BLOCK + 1).build());
    long[] blocks = asked.hashes().sequence();
    fleet.onBlocks(RankId.anyOf(2), BlockEvent.Stored.named(TrtllmHash.V1_BLOCK_KEY, blocks), 100);
    fleet.onBlocks(RankId.anyOf(2), new BlockEvent.Removed(TrtllmHash.V1_BLOCK_KEY, blocks), 300);

    assertThat(worker(fleet, asked, 149)).as("no match is known").isEqualTo(0);
    assertThat(worker(fleet, asked, 150)).isEqualTo(2);
    assertThat(worker(fleet, asked, 349)).isEqualTo(2);
    assertThat(worker(fleet, asked, 350)).as("by turns again").isNotEqualTo(2);
  }

  @Test
  void ranksOfAHybridModelMatchAsFarAsTheirGroupsAllow() {
    BlockHashes prompt =
        NativeBlockHasher.of(HashFormat.KVASIR, BLOCK)
            .hash(request(1, 9 * BLOCK + 1).build().tokens(), CacheScope.NONE);
    long[] blocks = prompt.sequence();
    CacheGroup states = new CacheGroup(1, CacheGroup.Kind.STATE, 1);
    RoutedFleet fleet =
        new RoutedFleet(
            FleetSettings.of(3, "cost"),
            HashFormat.KVASIR,
            BLOCK,
            1,
            RankCapacity.UNKNOWN,
            LatencyTargets.NONE);
    for (int worker = 0; worker < 3; worker++) {
      RankId rank = new RankId(worker, 0);
      long[] state = {blocks[worker == 1 ? 7 : 1]};
      fleet.onBlocks(rank, BlockEvent.Stored.named(null, blocks), 0);
      fleet.onBlocks(
          rank, BlockEvent.GroupStored.some(states, false, state, state, Repeats.SAME), 0);
    }
    HashedRequest asked = new HashedRequest(request(1, 9 * BLOCK + 1).build(), prompt);
    assertThat(worker(fleet, asked, 1)).isEqualTo(1);
    fleet.onBlocks(new RankId(1, 0), new BlockEvent.GroupRemoved(1, blocks[7]), 2);
    fleet.onBlocks(
        new RankId(2, 0),
        BlockEvent.GroupStored.some(
            states, false, new long[] {blocks[8]}, new long[] {blocks[8]}, Repeats.SAME),
        2);
    HashedRequest later = new HashedRequest(request(1, 9 * BLOCK + 1).build(), prompt);
    assertThat(worker(fleet, later, 3_000_000_000L)).isEqualTo(2);
  }

  @Test
  void promptsOfServedRequestsMatchWithoutEvents() {
    RoutedFleet fleet = fleet("kv_cache_aware", Long.MAX_VALUE / 2);
    HashedRequest asked = hashed(request(1, 5 * BLOCK).build());
    int first = Objects.requireNonNull(fleet.route(asked, 0)).worker();
    fleet.onEnded(asked.request(), true, 0);

    for (int i = 0; i < 3; i++) {
      assertThat(worker(fleet, hashed(request(1, 5 * BLOCK).build()), 0)).isEqualTo(first);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "round_robin",
        "load_balancing",
        "kv_cache_aware",
        "conversation",
        "cost",
        "approximate",
        "polled"
      })
  void conversationAndFirstTurnArriveUnchanged(String router) {
    RoutedFleet fleet = fleet(router, 0);
    for (boolean first : new boolean[] {true, false, false}) {
      Request asked =
          request(1, 40)
              .conversationId("a")
              .firstTurn(first)
              .maxNewTokens(7)
              .targetRank(0)
              .relax(false)
              .children(2)
              .priority(0.75)
              .scope(CacheScope.NONE.withLora(9))
              .build();

      Request atRank = Objects.requireNonNull(fleet.route(hashed(asked), 0)).request().request();

      assertThat(atRank).usingRecursiveComparison().isEqualTo(asked);
      assertThat(atRank.tokens()).isSameAs(asked.tokens());
    }
  }

  @Test
  void aMadeUpConversationArrivesAtTheRank() {
    RoutedFleet fleet = fleet("conversation", 0);

    Request atRank =
        Objects.requireNonNull(fleet.route(hashed(request(1, 400).build()), 0)).request().request();

    assertThat(atRank.conversationId()).isEqualTo("conv_id:0_1");
    assertThat(fleet.result().decisions()).isEqualTo(Map.of(Reason.FALLBACK.id(), 1L));
  }

  /** A policy that Kvasir does not come with, whose router fails when it is asked. */
  private static final class Failing implements FleetRouterProvider {

    @Override
    public String name() {
      return "mine";
    }

    @Override
    public List<String> keys() {
      return List.of();
    }

    @Override
    public boolean choosesRanks() {
      return false;
    }

    @Override
    public boolean followsBlocks() {
      return false;
    }

    @Override
    public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
      return (FleetRouter)
          Proxy.newProxyInstance(
              FleetRouter.class.getClassLoader(),
              new Class<?>[] {FleetRouter.class},
              (proxy, method, values) -> {
                if (method.getName().equals("route")) {
                  throw new IllegalStateException("no table for model x");
                }
                if (method.getName().equals("onFinished")) {
                  throw new NoSuchMethodError("of another version");
                }
                return method.getReturnType() == boolean.class ? true : null;
              });
    }
  }

  @Test
  void anExceptionOfAPlugInNamesThePlugIn() {
    FleetSettings settings = new FleetSettings(2, new Failing(), Map.of(), 0, 0, 100, List.of());
    RoutedFleet fleet =
        new RoutedFleet(
            settings, HashFormat.TRTLLM_V1, BLOCK, 1, RankCapacity.UNKNOWN, LatencyTargets.NONE);
    HashedRequest request = hashed(request(1, 40).build());

    assertThatThrownBy(() -> fleet.route(request, 0))
        .isInstanceOf(FleetRouterFailure.class)
        .hasMessage(
            "fleet router 'mine' (%s) failed: java.lang.IllegalStateException: no table for model x",
            Failing.class.getName());
    assertThatThrownBy(() -> fleet.onEnded(request.request(), true, 1))
        .isInstanceOf(FleetRouterFailure.class)
        .hasMessageEndingWith("java.lang.NoSuchMethodError: of another version");
  }

  private static final int WORKERS = 8;

  private HashFormat format = HashFormat.KVASIR;

  private RoutedFleet layer(String kind, long predictedTtlMs) {
    FleetSettings settings = FleetSettings.of(WORKERS, kind);
    return new RoutedFleet(
        new FleetSettings(
            WORKERS,
            settings.router(),
            kind.equals("cost")
                ? Map.of("router_predicted_ttl_secs", predictedTtlMs / 1e3)
                : Map.of(),
            50,
            0,
            100,
            List.of()),
        format,
        BLOCK,
        1,
        RankCapacity.UNKNOWN,
        LatencyTargets.NONE);
  }

  private HashedRequest prompt(long id) {
    Request request = Request.builder(id, new int[8 * BLOCK]).build();
    return new HashedRequest(
        request, NativeBlockHasher.of(format, BLOCK).hash(request.tokens(), request.scope()));
  }

  /** A worker whose iteration stored the blocks of a prompt. */
  private record Stored(List<Long> blocks) implements IteratedWorker {
    @Override
    public void drainBlocks(WorkerBlockSink sink) {
      for (int i = 0; i < blocks.size(); i++) {
        sink.on(
            0,
            i == 0
                ? BlockEvent.Stored.named(null, blocks.get(i))
                : BlockEvent.Stored.namedAfter(null, blocks.get(i - 1), blocks.get(i)));
      }
    }

    @Override
    public EngineMetrics metrics() {
      return new EngineMetrics(blocks.size(), 1_024, 0);
    }
  }

  /** The worker chosen for a request that ends at once. */
  private int chosen(RoutedFleet layer, long id, long nowNs) {
    HashedRequest asked = prompt(id);
    int worker = Objects.requireNonNull(layer.route(asked, nowNs)).worker();
    layer.onEnded(asked.request(), true, nowNs);
    return worker;
  }

  @ParameterizedTest
  @CsvSource({"cost, KVASIR", "polled, KVASIR", "cost, TRTLLM_V1", "polled, TRTLLM_V1"})
  void blocksAreKnownWhenTheIterationsEndAndTheDelayAreOver(String kind, HashFormat naming) {
    format = naming;
    try (RoutedFleet layer = layer(kind, 0);
        RoutedFleet ignorant = layer(kind, 0)) {
      HashedRequest holder = prompt(0);
      assertThat(layer.route(holder, 0)).isNotNull();
      ignorant.route(holder, 0);
      layer.onEnded(holder.request(), true, 0);
      ignorant.onEnded(holder.request(), true, 0);
      int held = chosen(ignorant, 1, 1_049) == 5 ? 6 : 5; // not the one that would be chosen anyway
      layer.onIterated(
          held, new Stored(LongStream.of(holder.hashes().sequence()).boxed().toList()), 1_000);

      assertThat(chosen(layer, 1, 1_049)).isNotEqualTo(held);
      assertThat(chosen(layer, 2, 1_050)).isEqualTo(held);
      assertThat(chosen(layer, 3, 1_150)).isEqualTo(held);
    }
  }

  @ParameterizedTest
  @EnumSource(HashFormat.class)
  void aPlacedPrefixKeepsItsSiblingsBeforeAnyEvent(HashFormat naming) {
    format = naming;
    try (RoutedFleet predicts = layer("cost", 2_000)) {
      int first = chosen(predicts, 1, 0);
      for (int id = 2; id < 20; id++) {
        assertThat(chosen(predicts, id, 10)).isEqualTo(first);
      }
    }
  }

  @Test
  void tokensOfTheFutureAreNotKnown() {
    try (RoutedFleet layer = layer("round_robin", 0)) {
      for (int id = 0; id < WORKERS; id++) {
        HashedRequest early = prompt(id);
        layer.route(early, 0);
        layer.onToken(early.request(), 0, 500); // computed ahead of time
      }
      layer.route(prompt(WORKERS), 499);
      assertThat(layer.result().behindPrompts()).isEqualTo(1);
      layer.route(prompt(WORKERS + 1), 500);
      assertThat(layer.result().behindPrompts()).isEqualTo(1);
    }
  }

  @Test
  void choicesBehindPromptsAreCounted() {
    try (RoutedFleet layer = layer("round_robin", 0)) {
      for (int id = 0; id < 2 * WORKERS; id++) {
        HashedRequest asked = prompt(id);
        layer.route(asked, id);
        if (id % WORKERS < 3) {
          layer.onToken(asked.request(), 0, id + 1);
        }
      }
      assertThat(layer.result().behindPrompts()).isEqualTo(WORKERS - 3);
    }
  }

  @Test
  void aPolicyThatChoosesRanksByPolledMetricsNeedsWorkersOfOneRank() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new RoutedFleet(
                    FleetSettings.of(2, "polled"),
                    HashFormat.KVASIR,
                    BLOCK,
                    2,
                    RankCapacity.UNKNOWN,
                    LatencyTargets.NONE))
        .withMessage("polled needs workers of 1 rank, not 2");
  }
}
