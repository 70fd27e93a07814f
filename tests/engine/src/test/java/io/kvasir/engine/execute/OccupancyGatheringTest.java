package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a router that reads occupancy gets of the pools. */
class OccupancyGatheringTest {

  private static final int BLOCK = 4;

  @Test
  void poolsSettleBeforeTheyAreRead() {
    assertThat(callsBeforeTheFirstRoute(true)).containsExactly("settle");
  }

  @Test
  void poolsAreNotMadeToWaitForARouterThatDoesNotRead() {
    assertThat(callsBeforeTheFirstRoute(false)).isEmpty();
  }

  private static List<String> callsBeforeTheFirstRoute(boolean reads) {
    ListeningRouter router = new ListeningRouter(1, reads);
    List<PoolCalls> seen = new ArrayList<>();
    try (TestInstance instance =
        TestInstance.with(1, 64, BLOCK)
            .router(router)
            .wrapper(
                pool -> {
                  PoolCalls calls = new Settles(pool);
                  seen.add(calls);
                  return calls;
                })
            .build()) {
      router.pools = seen;
      instance.submit(TestInstance.request(1, 0, 10, 2));
      instance.iterate();
      return router.callsBefore.get(0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatPlacedRequestsStillNeedIsTold(CapacityPolicy policy) {
    ListeningRouter router = new ListeningRouter(1, true);
    try (TestInstance instance =
        TestInstance.with(1, 10, BLOCK)
            .router(router)
            .options(ExecutorOptions.DEFAULT.withCapacityPolicy(policy).withTokenBudget(100))
            .build()) {
      instance.submit(TestInstance.request(1, 0, 32, 9)); // takes the whole pool in the end
      instance.submit(TestInstance.request(2, 100, 20, 5));
      instance.iterate();
      instance.submit(TestInstance.request(3, 200, 4, 1));
      instance.iterate();
      assertThat(router.states.get(0).queuedBlocks()).isZero();
      assertThat(router.states.get(1).queuedBlocks())
          .as("blocks that request 2 waits for")
          .isEqualTo(policy == CapacityPolicy.GUARANTEED_NO_EVICT ? 6 : 5);
      instance.runUntilIdle();
      instance.assertNothingHeld();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRankThatIsFullGetsNothingWhileAnotherHasBlocks(AdpRouterKind kind) {
    AdpRouter router =
        kind.create(2, AttentionDpConfig.DEFAULT, new BlockDemand(BLOCK, true), false);
    try (TestInstance instance = TestInstance.with(2, 40, BLOCK).router(router).build()) {
      instance.submit(TestInstance.requestBuilder(1, 0, 8, 140).targetRank(0).build());
      instance.submit(TestInstance.requestBuilder(2, 100, 40, 20).targetRank(1).build());
      instance.iterate();
      for (int id = 3; id < 6; id++) {
        instance.submit(TestInstance.request(id, 100 * id, 10, 2));
      }
      instance.iterate();
      assertThat(instance.executors.get(0).activeRequests())
          .as("rank 0 has the lighter prompt, but 37 of its 40 blocks are promised")
          .isEqualTo(2);
      assertThat(instance.executors.get(1).activeRequests()).isEqualTo(3);
      instance.runUntilIdle();
      instance.assertNothingHeld();
    }
  }

  @Test
  void childrenTakePlacesOfARank() {
    try (TestInstance instance = TestInstance.with(1, 64, BLOCK).build()) {
      instance.submit(TestInstance.requestBuilder(1, 0, 8, 3).children(4).build());
      instance.iterate();
      assertThat(instance.executors.get(0).activeRequests()).isEqualTo(5);
      instance.runUntilIdle();
      instance.assertNothingHeld();
    }
  }

  /** Remembers only when it had to settle. */
  private static final class Settles extends PoolCalls {
    private final List<String> settled = new ArrayList<>();

    Settles(BlockPool pool) {
      super(pool);
    }

    @Override
    List<String> take() {
      List<String> taken = List.copyOf(settled);
      settled.clear();
      return taken;
    }

    @Override
    public void settle() {
      settled.add("settle");
      super.settle();
    }
  }

  /** Places like the default router and keeps the states that it was given. */
  private static final class ListeningRouter implements AdpRouter {
    private final AdpRouter places;
    private final boolean reads;
    final List<RankState> states = new ArrayList<>();
    final List<List<String>> callsBefore = new ArrayList<>();
    List<PoolCalls> pools = List.of();

    ListeningRouter(int ranks, boolean reads) {
      this.places = AdpRouterKind.DEFAULT.create(ranks, AttentionDpConfig.DEFAULT, null, false);
      this.reads = reads;
    }

    @Override
    public String name() {
      return "listening";
    }

    @Override
    public boolean needsPrefixMatches() {
      return false;
    }

    @Override
    public boolean readsOccupancy() {
      return reads;
    }

    @Override
    public LoadMetric loadMetric() {
      return places.loadMetric();
    }

    @Override
    public Assignment route(
        List<RankState> given, List<Request> requests, PrefixMatches matches, int maxActive) {
      states.addAll(given);
      pools.forEach(pool -> callsBefore.add(pool.take()));
      return places.route(given, requests, matches, maxActive);
    }
  }
}
