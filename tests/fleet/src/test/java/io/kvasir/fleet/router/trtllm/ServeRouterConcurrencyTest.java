package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvasir.fleet.router.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads choose and finish while servers come and go. */
class ServeRouterConcurrencyTest {

  private static final int THREADS = 4;
  private static final int CHOICES = 2_000;
  private static final int SESSIONS = 16;

  @ParameterizedTest
  @EnumSource
  void loadsReturnToNothing(ServeRouterKind kind) throws Exception {
    Map<String, Object> args =
        switch (kind) {
          case ROUND_ROBIN -> Map.of();
          case LOAD_BALANCING -> Map.of("use_tokens", true);
          case KV_CACHE_AWARE -> Map.of("tokens_per_block", 2, "max_sessions", SESSIONS);
          case CONVERSATION -> Map.of("tokens_per_block", 2, "max_sessions", SESSIONS);
        };
    ServeRouter router = kind.create(List.of("fixed"), args, ServePorts.NONE);
    churn(router);
    assertIdle(router);
    if (router instanceof ConversationRouter conversation) {
      assertThat(conversation.sessionCount()).isBetween(1, SESSIONS);
      int nodes = router.servers().stream().mapToInt(conversation::nodeCount).sum();
      assertThat((long) nodes).isLessThanOrEqualTo(conversation.blockCount());
    }
  }

  /** The check must be able to fail. */
  @Test
  void aForgottenFinishIsNoticed() throws Exception {
    ServeRouter router = new RoundRobinRouter(List.of("fixed"));
    churn(router);
    router.next(ServeRequest.of(Prompt.of("")), null);
    assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertIdle(router));
  }

  private static void assertIdle(ServeRouter router) {
    assertThat(router.servers()).contains("fixed").allMatch(server -> router.load(server) == 0);
  }

  private static void churn(ServeRouter router) throws Exception {
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
            start.await();
            for (int i = 0; i < CHOICES; i++) {
              router.addServer("s" + i % 7);
              router.removeServer("s" + (i + 3) % 7);
            }
            return null;
          };
      results.add(threads.submit(comings));
      for (Future<Void> result : results) {
        result.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static Void chooseAndFinish(ServeRouter router, int seed, CyclicBarrier start)
      throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    List<ServeChoice> open = new ArrayList<>();
    start.await();
    for (int i = 0; i < CHOICES; i++) {
      int[] prompt = random.ints(1 + random.nextInt(8), 0, 2).toArray();
      String id = random.nextBoolean() ? "c" + random.nextInt(2 * SESSIONS) : null;
      String excluded = random.nextBoolean() ? "s" + random.nextInt(7) : null;
      open.add(router.next(ServeRequest.of(Prompt.of(prompt)).withConversation(id), excluded));
      if (open.size() > 5) {
        router.finish(open.remove(random.nextInt(open.size())), random.nextBoolean());
      }
      assertThat(router.load("fixed")).isNotNegative();
    }
    open.forEach(choice -> router.finish(choice, true));
    return null;
  }
}
