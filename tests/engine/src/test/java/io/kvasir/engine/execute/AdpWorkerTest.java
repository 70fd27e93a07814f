package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.lockstep.ThreadCollective;
import io.kvasir.testing.lockstep.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AdpWorkerTest {

  private static final BlockHasher HASHER = NativeBlockHasher.of(HashFormat.KVASIR, 4);
  private static final PoolShape SHAPE = new PoolShape(100, 4, 256, 100, 0);

  /** Remembers which rank each request was placed on. */
  private static final class Placements implements RequestListener {
    final List<String> placed = new ArrayList<>();
    final List<Integer> matched = new ArrayList<>();
    final List<Integer> cached = new ArrayList<>();

    @Override
    public void onPlaced(Decision decision, long nowNs) {
      placed.add(decision.request().id() + " on " + decision.rank());
      matched.add(decision.matchedTokens());
    }

    @Override
    public void onStarted(
        Request request, int rank, int cachedTokens, boolean resumed, long nowNs) {
      cached.add(cachedTokens);
    }
  }

  private static AdpWorker.Builder builder(int ranks) {
    return AdpWorker.builder(ranks, SHAPE, HASHER);
  }

  private static AdpWorker open(AdpWorker.Builder builder, RequestListener listener) {
    return builder.open((rank, pool) -> TestInstance.MILLISECOND_STEPS, listener);
  }

  private static void serve(AdpWorker worker, int id, int firstToken) {
    int[] prompt = IntStream.range(firstToken, firstToken + 20).toArray();
    Request request = Request.builder(id, prompt).maxNewTokens(2).build();
    worker.submit(new HashedRequest(request, HASHER.hash(prompt, CacheScope.NONE)));
    for (long nowNs = 0; !worker.idle(); ) {
      nowNs += worker.iterate(nowNs);
    }
  }

  @Test
  void aPromptReturnsToTheRankThatHoldsIt() {
    Placements listener = new Placements();
    AdpWorker.Builder builder =
        builder(3).router(AdpRouterKind.KV_CACHE_AWARE, AttentionDpConfig.DEFAULT);
    try (AdpWorker worker = open(builder, listener)) {
      serve(worker, 1, 0);
      serve(worker, 2, 1000);
      serve(worker, 3, 1000);
    }
    assertThat(listener.placed).hasSize(3);
    assertThat(listener.placed.get(2).substring(2)).isEqualTo(listener.placed.get(1).substring(2));
  }

  @Test
  void theRestOfAPromptThatAGroupDoesNotAllowIsComputedAgain() {
    Placements listener = new Placements();
    AdpWorker.Builder builder =
        builder(1)
            .router(AdpRouterKind.KV_CACHE_AWARE, AttentionDpConfig.DEFAULT)
            .groups(List.of(PoolGroup.states(12)));
    try (AdpWorker worker = open(builder, listener)) {
      serve(worker, 1, 0);
      serve(worker, 2, 0);
      assertThat(worker.pools().get(0).occupancy().cachedBlocks()).isEqualTo(5);
    }
    assertThat(listener.matched).containsExactly(0, 12);
    assertThat(listener.cached).containsExactly(0, 12);
  }

  @Test
  void eventsOfAnIterationAreKeptOnlyOnRequest() {
    for (boolean kept : new boolean[] {true, false}) {
      try (AdpWorker worker = open(builder(1).events(kept), new Placements())) {
        serve(worker, 1, 0);
        List<Long> numbers = new ArrayList<>();
        worker.pools().get(0).drainEvents((number, event) -> numbers.add(number));
        assertThat(numbers.isEmpty()).isEqualTo(!kept);
      }
    }
  }

  @Test
  void poolsAreClosedIfAnEngineCannotBeMade() {
    List<RankPools> opened = new ArrayList<>();
    AdpWorker.Builder builder =
        builder(2)
            .place(
                (ranks, shape) -> {
                  opened.add(RankPools.onHost(ranks, shape));
                  return opened.get(0);
                });
    AdpWorker.Engines failing =
        (rank, pool) -> {
          throw new IllegalStateException("no engine for rank " + rank);
        };
    assertThatThrownBy(() -> builder.open(failing, new Placements()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no engine for rank 0");
    assertThatThrownBy(() -> opened.get(0).pools().get(1).occupancy())
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void processesOfAWorkerPlaceOnAllOfItsRanksAlike() {
    List<Callable<List<String>>> members = new ArrayList<>();
    for (RankCollective collective : ThreadCollective.of(Member.of(1, 2), Await.limit())) {
      members.add(
          () -> {
            Placements listener = new Placements();
            RankGroup group = new RankGroup(collective);
            try (AdpWorker worker = open(builder(group.self().ranks()).group(group), listener)) {
              assertThat(worker.liveRanks()).isEqualTo(3);
              assertThat(worker.executors().get(0).rank()).isEqualTo(group.self().firstRank());
              submitThree(worker);
              for (long nowNs = 0; !worker.idle(); ) {
                nowNs += worker.iterate(nowNs);
              }
            }
            return listener.placed;
          });
    }
    List<Object> placed = Threads.run(members);
    assertThat(placed.get(0)).isEqualTo(placed.get(1));
    assertThat(placed.get(0)).asString().contains("on 0").contains("on 1").contains("on 2");
  }

  private static void submitThree(AdpWorker worker) {
    for (int id = 1; id <= 3; id++) {
      int[] prompt = IntStream.range(1000 * id, 1000 * id + 20).toArray();
      Request request = Request.builder(id, prompt).maxNewTokens(2).build();
      worker.submit(new HashedRequest(request, HASHER.hash(prompt, CacheScope.NONE)));
    }
  }
}
