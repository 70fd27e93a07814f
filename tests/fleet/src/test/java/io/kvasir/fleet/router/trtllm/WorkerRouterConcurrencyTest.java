package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RoundRobin;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads choose and finish while workers are added and removed. */
class WorkerRouterConcurrencyTest {

  private static final int THREADS = 4;
  private static final int CHOICES = 2_000;
  private static final int SESSIONS = 16;
  private static final int COMING_AND_GOING = 7;
  private static final RankId FIXED = new RankId(COMING_AND_GOING, 0);

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void loadsReturnToNothing(String policy) throws Exception {
    Map<String, Object> args =
        switch (policy) {
          case "round_robin" -> Map.of();
          case "load_balancing" -> Map.of("use_tokens", true);
          default -> Map.of("tokens_per_block", 2, "max_sessions", SESSIONS);
        };
    WorkerRouter<?> router =
        (WorkerRouter<?>) FleetRouterKind.named(policy).create(args, FleetRouterSetup.of(1));
    churn(router);
    assertIdle(router);
    if (router instanceof ConversationFleetRouter conversation) {
      assertThat(conversation.sessionCount()).isBetween(1, SESSIONS);
      long nodes = 0;
      for (int worker = 0; worker <= COMING_AND_GOING; worker++) {
        nodes += conversation.nodeCount(worker);
      }
      assertThat(nodes).isLessThanOrEqualTo(conversation.blockCount());
    }
  }

  /** The check must be able to fail. */
  @Test
  void aForgottenFinishIsNoticed() throws Exception {
    WorkerRouter<?> router = new RoundRobin();
    churn(router);
    router.route(FleetRequest.builder(1, Prompt.of("")).build());
    assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertIdle(router));
  }

  private static void assertIdle(WorkerRouter<?> router) {
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    assertThat(loads.indexOf(RankId.anyOf(FIXED.workerId()))).isNotNegative();
    for (int i = 0; i < loads.size(); i++) {
      assertThat(loads.activeRequests(i)).isZero();
      assertThat(router.load(loads.rank(i).workerId())).isZero();
    }
  }

  private static void churn(WorkerRouter<?> router) throws Exception {
    router.addRank(FIXED, RankCapacity.UNKNOWN);
    CyclicBarrier start = new CyclicBarrier(THREADS + 1);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
    try {
      List<Future<Void>> results = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        int seed = thread;
        results.add(threads.submit(() -> chooseAndFinish(router, seed, start)));
      }
      Callable<Void> comings =
          () -> {
            Await.all(start);
            for (int i = 0; i < CHOICES; i++) {
              router.addRank(new RankId(i % COMING_AND_GOING, 0), RankCapacity.UNKNOWN);
              router.removeRank(new RankId((i + 3) % COMING_AND_GOING, 0));
            }
            return null;
          };
      results.add(threads.submit(comings));
      for (Future<Void> result : results) {
        Await.result("a thread", result);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static Void chooseAndFinish(WorkerRouter<?> router, int seed, CyclicBarrier start) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> open = new ArrayList<>();
    Await.all(start);
    for (int i = 0; i < CHOICES; i++) {
      int[] prompt = random.ints(1 + random.nextInt(8), 0, 2).toArray();
      FleetRequestBuilder request = FleetRequest.builder(i, Prompt.of(prompt));
      if (random.nextBoolean()) {
        request.conversationId("c" + random.nextInt(2 * SESSIONS));
      }
      if (random.nextBoolean()) {
        RankId excluded = RankId.anyOf(random.nextInt(COMING_AND_GOING));
        request.filter(RankFilter.exclude(Set.of(excluded)));
      }
      open.add(NamedFleet.placement(router.route(request.build())).attempt());
      if (open.size() > 5) {
        router.onFinished(open.remove(random.nextInt(open.size())), random.nextBoolean());
      }
      assertThat(router.load(FIXED.workerId())).isNotNegative();
    }
    open.forEach(attempt -> router.onFinished(attempt, true));
    return null;
  }
}
