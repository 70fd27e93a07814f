package io.kvasir.fleet.router.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WhatIfRouterTest {

  private static final int BLOCK = 4;
  private static final int RANKS = 3;
  private static final long CAPACITY = 40;
  private static final long SEED = Long.getLong("kvasir.test.seed", 16);

  private final List<FleetRouter> open = new ArrayList<>();
  private long nowNs;
  private long ids;

  @AfterEach
  void close() {
    open.forEach(FleetRouter::close);
  }

  private FleetRouterSetup setup() {
    return new FleetRouterSetup(HashFormat.KVASIR, BLOCK, () -> nowNs, Map.of());
  }

  private WhatIfRouter router(String actual, String... others) {
    List<FleetRouterProvider> providers = Stream.of(others).map(FleetRouterKind::named).toList();
    WhatIfRouter router =
        new WhatIfRouter(
            FleetRouterKind.named(actual).create(Map.of(), setup()),
            providers,
            defaults -> Map.of(),
            setup(),
            null);
    open.add(router);
    for (int rank = 0; rank < RANKS; rank++) {
      router.addRank(new RankId(rank, 0), new RankCapacity(CAPACITY, 0));
    }
    return router;
  }

  private FleetRequest request(int... tokens) {
    return FleetRequest.builder(++ids, Prompt.of(tokens)).build();
  }

  private static Placement place(FleetRouter router, FleetRequest request) {
    RouteOutcome outcome = router.route(request);
    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    return ((RouteOutcome.Placed) outcome).placement();
  }

  /** Prompts that begin alike, to their ends. */
  private static int[] prompt(Random random) {
    int[] prompt = new int[8 + random.nextInt(40)];
    int name = random.nextInt(8);
    int shared = random.nextInt(prompt.length);
    for (int i = 0; i < prompt.length; i++) {
      prompt[i] = i < shared ? name : random.nextInt(1_000);
    }
    return prompt;
  }

  private void play(FleetRouter router, Random random, int requests) {
    List<Long> running = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      nowNs += 1_000_000L * (1 + random.nextInt(20));
      running.add(place(router, request(prompt(random))).attempt());
      if (running.size() > 5) {
        long ended = running.remove(random.nextInt(running.size()));
        router.onTokens(ended, 1);
        router.onFinished(ended, true);
      }
    }
    for (long attempt : running) {
      router.onFinished(attempt, true);
    }
  }

  @Test
  void theSamePolicyComesToTheSame() {
    for (String name : List.of("round_robin", "load_balancing", "conversation", "cost")) {
      WhatIfRouter router = router(name, name.equals("cost") ? "round_robin" : name);
      play(router, new Random(SEED), 300);
      List<WhatIfCounts> counts = router.counts();
      assertThat(counts.get(0).router()).isEqualTo(name);
      assertThat(counts.get(0).promptTokens()).isPositive();
      if (name.equals("round_robin")) { // others place by load, which depends on modelled times
        assertThat(counts.get(1))
            .usingRecursiveComparison()
            .ignoringFields("firstTokenP50Ms", "firstTokenP95Ms")
            .isEqualTo(counts.get(0));
      }
    }
  }

  @Test
  void theChoicesOfTheActualRouterAreThoseItWouldMakeAlone() {
    WhatIfRouter asked = router("load_balancing", "cost", "round_robin", "projected");
    FleetRouter alone = FleetRouterKind.named("load_balancing").create(Map.of(), setup());
    open.add(alone);
    for (int rank = 0; rank < RANKS; rank++) {
      alone.addRank(new RankId(rank, 0), new RankCapacity(CAPACITY, 0));
    }
    Random random = new Random(SEED);
    for (int i = 0; i < 200; i++) {
      FleetRequest request = request(prompt(random));
      Placement placed = place(asked, request);
      assertThat(place(alone, request)).isEqualTo(placed);
      if (random.nextBoolean()) {
        asked.onFinished(placed.attempt(), true);
        alone.onFinished(placed.attempt(), true);
      }
    }
  }

  @Test
  void hitsAreThoseOfAPoolThatEvictsWhatWasUnusedForLongest() {
    WhatIfRouter router = router("round_robin", "round_robin");
    Random random = new Random(SEED);
    List<List<String>> held = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    long hits = 0;
    for (int i = 0; i < 500; i++) {
      int[] prompt = prompt(random);
      Placement placed = place(router, request(prompt));
      router.onFinished(placed.attempt(), true);
      List<String> pool = held.get((int) placed.rank().workerId());
      int blocks = prompt.length / BLOCK;
      int matched = 0;
      while (matched < blocks && pool.contains(block(prompt, matched))) {
        matched++;
      }
      hits += BLOCK * (long) Math.min(matched, (prompt.length - 1) / BLOCK);
      for (int block = blocks - 1; block >= 0; block--) {
        pool.remove(block(prompt, block));
        pool.add(block(prompt, block));
      }
      while (pool.size() > CAPACITY) {
        pool.remove(0);
      }
    }
    assertThat(hits).as("seed %d", SEED).isPositive();
    assertThat(router.counts()).extracting(WhatIfCounts::hitTokens).containsOnly(hits);
  }

  /** A block is named by the tokens up to its end. */
  private static String block(int[] prompt, int block) {
    return Arrays.toString(Arrays.copyOf(prompt, (block + 1) * BLOCK));
  }

  @Test
  void aPolicyThatFollowsBlocksFindsThoseOfItsVirtualRanks() {
    WhatIfRouter router = router("round_robin", "cost");
    int[] prompt = new int[10 * BLOCK + 1];
    Arrays.fill(prompt, 7);
    for (int i = 0; i < 30; i++) {
      nowNs += 5_000_000_000L;
      router.onFinished(place(router, request(prompt)).attempt(), true);
    }
    List<WhatIfCounts> counts = router.counts();
    assertThat(counts.get(0).placed().values()).containsOnly(10L);
    assertThat(counts.get(0).hitTokens()).isEqualTo(27 * 10 * BLOCK);
    assertThat(counts.get(1).placed().values()).containsExactly(30L);
    assertThat(counts.get(1).hitTokens()).isEqualTo(29 * 10 * BLOCK);
  }

  @Test
  void whatIsRefusedIsCountedAndLoadsEnd() {
    WhatIfRouter router = router("load_balancing", "cost");
    FleetRequest nowhere =
        FleetRequest.builder(++ids, Prompt.of(new int[8]))
            .filter(RankFilter.pin(new RankId(99, 0)))
            .build();
    assertThat(router.route(nowhere)).isInstanceOf(RouteOutcome.Refused.class);
    assertThat(router.counts()).extracting(WhatIfCounts::refused).containsOnly(1L);
    router.removeRank(new RankId(2, 0));
    play(router, new Random(SEED), 50);
    assertThat(router.counts().get(1).placed().keySet())
        .doesNotContain(new RankId(2, 0))
        .hasSize(2);
  }

  @Test
  void aWorkerThatComesBackHoldsNothing() {
    WhatIfRouter router = router("cost", "round_robin");
    int[] prompt = new int[10 * BLOCK + 1];
    router.onFinished(place(router, request(prompt)).attempt(), true);
    for (int worker = 0; worker < 3; worker++) {
      router.removeRank(new RankId(worker, 0));
    }
    router.addRank(new RankId(0, 0), new RankCapacity(CAPACITY, 0));
    place(router, request(prompt));
    assertThat(router.counts()).extracting(WhatIfCounts::hitTokens).containsOnly(0L);
    assertThat(router.counts()).extracting(WhatIfCounts::requests).containsOnly(2L);
    assertThat(router.counts())
        .allSatisfy(each -> assertThat(each.placed().values()).containsExactly(1L));
  }

  @Test
  void aPolicyThatNeedsEnginesCannotBeAsked() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router("round_robin", "polled"))
        .withMessage("polled needs metrics of engines, which virtual ranks do not have");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router("round_robin", "kv_cache_aware"))
        .withMessageStartingWith("kv_cache_aware needs TensorRT-LLM's events of workers");
  }

  /**
   * Behind another balancer, all requests go to one actual rank, which may be the only one allowed.
   */
  @Test
  void statedRanksComeToWhatActualOnesDo() {
    for (String name : List.of("round_robin", "conversation", "cost", "projected")) {
      WhatIfRouter behind =
          new WhatIfRouter(
              FleetRouterKind.named("round_robin").create(Map.of(), setup()),
              List.of(FleetRouterKind.named(name)),
              defaults -> Map.of(),
              setup(),
              new VirtualFleet(RANKS, CAPACITY * BLOCK));
      open.add(behind);
      behind.addRank(new RankId(70, 0), RankCapacity.UNKNOWN);
      WhatIfRouter inFront = router("round_robin", name);
      Random random = new Random(SEED);
      for (int i = 0; i < 200; i++) {
        int[] prompt = prompt(random);
        FleetRequest pinned =
            FleetRequest.builder(++ids, Prompt.of(prompt)).filter(RankFilter.allow(70)).build();
        FleetRequest same = FleetRequest.builder(ids, Prompt.of(prompt)).build();
        nowNs += 1_000_000_000; // virtual requests end before the next one begins
        for (Placement placed : List.of(place(behind, pinned), place(inFront, same))) {
          FleetRouter router = placed.rank().workerId() == 70 ? behind : inFront;
          router.onTokens(placed.attempt(), 1);
          router.onFinished(placed.attempt(), true);
        }
      }
      assertThat(behind.countsActual()).isFalse();
      assertThat(behind.counts())
          .as(name)
          .usingRecursiveFieldByFieldElementComparatorIgnoringFields(
              "firstTokenP50Ms", "firstTokenP95Ms")
          .containsExactly(inFront.counts().get(1));
      assertThat(behind.counts().get(0).firstTokenP95Ms()).isNaN();
      assertThat(inFront.counts().get(1).firstTokenP95Ms()).isPositive();
      assertThat(behind.counts().get(0).placed().values().stream().mapToLong(n -> n).sum())
          .isEqualTo(200);
      behind.removeRank(new RankId(70, 0));
      assertThat(behind.counts().get(0).placed()).isNotEmpty();
    }
  }

  @Test
  void aRequestThatWaitsIsCountedOnceItIsPlacedOrNot() {
    FleetRouter queueing =
        FleetRouterKind.named("projected").create(Map.of("router_queue_threshold", 0), setup());
    WhatIfRouter router =
        new WhatIfRouter(
            queueing, List.of(FleetRouterKind.named("cost")), defaults -> Map.of(), setup(), null);
    open.add(router);
    router.addRank(new RankId(0, 0), new RankCapacity(CAPACITY, 0));
    Placement first = place(router, request(new int[20]));
    RouteOutcome.Waiting second = (RouteOutcome.Waiting) router.route(request(new int[24]));
    RouteOutcome.Waiting third = (RouteOutcome.Waiting) router.route(request(new int[28]));
    assertThat(third.outcome().cancel(false)).isTrue();
    assertThat(router.counts()).extracting(WhatIfCounts::refused).containsExactly(1L, 0L);
    router.onFinished(first.attempt(), true);
    Placement placed = ((RouteOutcome.Placed) second.outcome().join()).placement();
    assertThat(router.counts().get(0).placed().values()).containsExactly(2L);
    router.onFinished(placed.attempt(), true);
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    assertThat(loads.activeRequests(0)).isZero();
  }

  /** Round robin, whose ended attempts are recorded. */
  private record Recorded(FleetRouterProvider like, List<Object> ended)
      implements FleetRouterProvider {

    @Override
    public String name() {
      return like.name();
    }

    @Override
    public List<String> keys() {
      return like.keys();
    }

    @Override
    public boolean choosesRanks() {
      return like.choosesRanks();
    }

    @Override
    public boolean followsBlocks() {
      return like.followsBlocks();
    }

    @Override
    public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
      FleetRouter router = like.create(args, setup);
      return (FleetRouter)
          Proxy.newProxyInstance(
              FleetRouter.class.getClassLoader(),
              new Class<?>[] {FleetRouter.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("onFinished")) {
                  ended.add(arguments[0]);
                }
                return method.invoke(router, arguments);
              });
    }
  }

  @Test
  void aRequestWhoseEndIsNeverReportedEndsForAskedPoliciesAfterFiveMinutes() {
    List<Object> ended = new ArrayList<>();
    FleetRouterProvider asked = new Recorded(FleetRouterKind.named("round_robin"), ended);
    WhatIfRouter router =
        new WhatIfRouter(
            FleetRouterKind.named("round_robin").create(Map.of(), setup()),
            List.of(asked),
            defaults -> Map.of(),
            setup(),
            null);
    open.add(router);
    router.addRank(new RankId(0, 0), new RankCapacity(CAPACITY, 0));
    long silent = place(router, request(1, 2, 3)).attempt();
    long alive = place(router, request(4, 5, 6)).attempt();
    nowNs += 200_000_000_000L;
    router.onAlive(alive);
    nowNs += 200_000_000_000L;
    assertThat(ended).isEmpty();
    place(router, request(7, 8, 9));
    assertThat(ended).hasSize(1);
    router.onFinished(silent, true);
    assertThat(ended).hasSize(1);
    router.onFinished(alive, true);
    assertThat(ended).hasSize(2);
  }
}
