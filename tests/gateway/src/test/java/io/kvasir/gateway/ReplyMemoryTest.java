package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the gateway keeps of replies counts against the budget of bodies. */
class ReplyMemoryTest {

  private static final int KIB = 1 << 10;
  private static final int BUDGET = 1 << 20;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private static TestGateway gateway(ScriptedEngine engine) {
    return TestGateway.of(engine).bodyBudget(BUDGET).start();
  }

  @Test
  void copiesOfManyAnswersStayWithinTheBudget() throws Exception {
    CountDownLatch halves = new CountDownLatch(4);
    CountDownLatch go = new CountDownLatch(1);
    String half = "x".repeat(600 * KIB);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.head(
                      200,
                      "Content-Type: application/json",
                      "Content-Length: " + (2 * half.length() + 2));
                  link.raw("\"" + half);
                  halves.countDown();
                  Await.opened("the signal to go on", go);
                  link.raw(half + "\"");
                });
        TestGateway gateway = gateway(engine)) {
      List<CompletableFuture<RawClient.Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        replies.add(CompletableFuture.supplyAsync(() -> gateway.post(CHAT, ASK), threads));
      }
      Await.opened("all halves are sent", halves);
      Await.until(() -> gateway.metric("kvasir_body_bytes") > 500 * KIB);
      assertThat(gateway.metric("kvasir_body_bytes")).isLessThanOrEqualTo(BUDGET);
      go.countDown();
      for (CompletableFuture<RawClient.Reply> reply : replies) {
        assertThat(reply.get().body()).hasSize(2 * half.length() + 2);
      }
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
    }
  }

  @Test
  void unfinishedEventsOfManyStreamsStayWithinTheBudget() {
    String part = "data: " + "x".repeat(900 * KIB);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.chunk(part);
                  link.awaitGone();
                });
        TestGateway gateway = gateway(engine);
        RawClient first = gateway.client()) {
      first.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> gateway.metric("kvasir_body_bytes") > 800 * KIB);
      RawClient.Reply second = gateway.post(CHAT, ASK_STREAM);
      assertThat(second.status()).isEqualTo(503);
      assertThat(second.code()).isEqualTo("body_budget_exhausted");
      assertThat(engine.received()).isEqualTo(2);
      first.disconnect();
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }
}
