package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.Await;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How a gateway ends. */
class StopTest {

  @Test
  void requestsInProgressAreServedBeforeTheEnd() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the signal to go on", go);
                  link.endStream();
                });
        TestGateway gateway = TestGateway.of(engine).drainMs(Await.limitMs()).start();
        RawClient client = gateway.client();
        RawClient late = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      client.event();
      assertThat(gateway.get("/ready").status()).isEqualTo(200);
      CompletableFuture<Integer> cut = CompletableFuture.supplyAsync(gateway.gateway()::stop);
      Await.until(() -> gateway.admin("/ready").status() == 503);
      RawClient.Reply refused = late.send(RawClient.post(CHAT, ASK)).reply();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.code()).isEqualTo("shutting_down");
      assertThat(refused.field("retry-after")).matches("[1-9][0-9]*");
      go.countDown();
      assertThat(client.event()).isEqualTo("data: [DONE]\n\n");
      assertThat(client.event()).isNull();
      assertThat(Await.result("the end of the gateway", cut)).isZero();
    }
  }

  @Test
  void requestsAreServedWhileBalancersNotice() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  EngineLink.answer(request, link);
                  go.countDown();
                });
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient kept = gateway.client()) {
      assertThat(kept.send(RawClient.post(CHAT, ASK)).reply().field("connection")).isNull();
      Await.opened("the answer is sent", go);
      CountDownLatch noticed = new CountDownLatch(1);
      CompletableFuture<Integer> cut =
          CompletableFuture.supplyAsync(
              () -> gateway.gateway().stop(() -> Await.opened("the balancers", noticed)));
      Await.until(() -> gateway.admin("/ready").status() == 503);
      assertThat(gateway.get("/ready").status()).isEqualTo(503);
      RawClient.Reply reply = kept.send(RawClient.post(CHAT, ASK)).reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(reply.field("connection")).isEqualTo("close");
      assertThat(kept.isClosed()).isTrue();
      gateway.works();
      noticed.countDown();
      assertThat(Await.result("the end of the gateway", cut)).isZero();
    }
  }

  @Test
  void aBodyThatIsArrivingIsAwaited() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).drainMs(Await.limitMs()).start();
        RawClient client = gateway.client()) {
      byte[] request = RawClient.post(CHAT, ASK);
      client.send(java.util.Arrays.copyOf(request, request.length - 1));
      Await.until(() -> gateway.metric("kvasir_body_bytes") > 0);
      CompletableFuture<Integer> cut = CompletableFuture.supplyAsync(gateway.gateway()::stop);
      Await.until(() -> gateway.admin("/ready").status() == 503);
      client.send(new byte[] {request[request.length - 1]});
      assertThat(client.reply().status()).isEqualTo(200);
      assertThat(Await.result("the end of the gateway", cut)).isZero();
    }
  }

  @Test
  void whatDoesNotEndInTimeIsCutAndCounted() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.streams()) {
                    link.stream();
                    link.token("Hello");
                  }
                  link.awaitGone();
                });
        TestGateway gateway = TestGateway.of(engine).drainMs(200).start();
        RawClient stream = gateway.client();
        RawClient whole = gateway.client()) {
      stream.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(stream.event()).contains("Hello");
      whole.send(RawClient.post(CHAT, ASK));
      engine.next();
      engine.next();
      assertThat(gateway.gateway().stop()).isEqualTo(2);
      assertThat(stream.event()).contains("\"error\"").contains("shutting down");
      assertThat(stream.isCut()).isTrue();
      RawClient.Reply reply = whole.reply();
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.code()).isEqualTo("shutting_down");
      assertThat(gateway.logLine().path("error").asText()).contains("shut");
      assertThat(gateway.logLine().path("error").asText()).contains("shut");
    }
  }

  @Test
  void whatIsCutLeavesTheRoutersQueue() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.target().equals(CHAT)) {
                    link.awaitGone();
                  } else {
                    link.json(404, "{}");
                  }
                });
        TestGateway gateway =
            TestGateway.of(engine)
                .router(ShiftedClockPolicy.NAME)
                .routerArgs(Map.of("router_queue_threshold", 0.0))
                .drainMs(200)
                .start();
        RawClient running = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> gateway.metric("kvasir_worker_requests_running") == 1);
      List<RawClient> waiting = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        waiting.add(gateway.client().send(RawClient.post(CHAT, ASK_STREAM)));
      }
      Await.until(() -> ShiftedClockPolicy.WAITING.size() == waiting.size());
      assertThat(gateway.gateway().stop()).isEqualTo(1 + waiting.size());
      for (RawClient client : waiting) {
        assertThat(client.reply().code()).isEqualTo("shutting_down");
        client.close();
      }
      // Not all: what is cut may make room for another just before that one is cut.
      assertThat(ShiftedClockPolicy.WAITING).anyMatch(Future::isCancelled);
    } finally {
      ShiftedClockPolicy.WAITING.clear();
    }
  }

  @Test
  void aClientThatDoesNotReadDoesNotKeepTheGatewayAlive() {
    String token = "x".repeat(1_000);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  for (int i = 0; i < 100_000; i++) {
                    link.token(token);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).drainMs(300).start();
        RawClient client = RawClient.to(gateway.gateway().port(), 4_096)) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(gateway.gateway().stop()).isEqualTo(1);
      Await.until(client::isDisconnected);
    }
  }

  @Test
  void aGatewayCanBeStoppedAndClosedRepeatedly() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).drainGraceMs(1).start()) {
      gateway.works();
      assertThat(gateway.gateway().stop()).isZero();
      assertThat(gateway.gateway().stop()).isZero();
      gateway.gateway().close();
    }
  }

  @Test
  void aGatewayThatCannotStartLeavesNoThread() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.good();
        ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      TestGatewayBuilder gateway = TestGateway.of(engine).port(taken.getLocalPort());
      Set<Thread> before = threads();
      assertThatThrownBy(gateway::start).hasMessageContaining("cannot listen on 127.0.0.1:");
      Await.until(() -> before.containsAll(threads()));
    }
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("kvasir-"))
        .collect(Collectors.toSet());
  }
}
