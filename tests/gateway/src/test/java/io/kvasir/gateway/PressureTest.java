package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Queue, budgets, health checks and time limits. */
class PressureTest {

  @Test
  void aFullQueueIs429() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(answersAfter(go));
        TestGateway gateway = TestGateway.of(engine).queue(1, 1).start();
        RawClient running = gateway.client();
        RawClient waiting = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK));
      engine.next();
      waiting.send(RawClient.post(CHAT, ASK));
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 1);
      Reply full = gateway.post(CHAT, ASK);
      assertThat(full.status()).isEqualTo(429);
      assertThat(full.code()).isEqualTo("queue_full");
      assertThat(full.json().at("/error/type").asText()).isEqualTo("overloaded_error");
      assertThat(full.field("retry-after")).matches("[1-9][0-9]*");
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
      assertThat(waiting.reply().status()).isEqualTo(200);
      assertThat(gateway.metric("kvasir_refusals_total", "queue_full")).isEqualTo(1);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
    }
  }

  @Test
  void aLongWaitIs503() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(answersAfter(go));
        TestGateway gateway = TestGateway.of(engine).queue(1, 1, 100).start();
        RawClient running = gateway.client();
        RawClient waiting = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK));
      engine.next();
      Reply late = waiting.send(RawClient.post(CHAT, ASK)).reply();
      assertThat(late.status()).isEqualTo(503);
      assertThat(late.code()).isEqualTo("queue_timeout");
      assertThat(late.field("retry-after")).matches("[1-9][0-9]*");
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      assertThat(waiting.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      assertThat(gateway.metric("kvasir_refusals_total", "queue_timeout")).isEqualTo(1);
    }
  }

  /** An engine that answers after a signal. */
  private static ScriptedEngine.Script answersAfter(CountDownLatch go) {
    return (request, link) -> {
      Await.opened("the signal to go on", go);
      EngineLink.answer(request, link);
    };
  }

  /** An engine that answers chats after a signal, and has no endpoint for tokens. */
  private static ScriptedEngine.Script answersAfter(CountDownLatch go, AtomicInteger chats) {
    return (request, link) -> {
      if (request.target().equals(CHAT)) {
        chats.incrementAndGet();
        answersAfter(go).answer(request, link);
      } else {
        link.json(404, "{}");
      }
    };
  }

  /** A gateway whose router lets requests wait while another one runs. */
  private static TestGatewayBuilder queueing(ScriptedEngine engine) {
    return TestGateway.of(engine).router("cost").routerArgs(Map.of("router_queue_threshold", 0.0));
  }

  @Test
  void aClientThatGoesLeavesTheRoutersQueue() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger chats = new AtomicInteger();
    try (ScriptedEngine engine = ScriptedEngine.start(answersAfter(go, chats));
        TestGateway gateway = queueing(engine).queue(10, 10).start();
        RawClient running = gateway.client();
        RawClient waiting = gateway.client();
        RawClient leaving = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> chats.get() == 1);
      waiting.send(RawClient.post(CHAT, ASK_STREAM));
      leaving.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting", "queue=\"router\"") == 2);
      assertThat(gateway.metric("kvasir_num_requests_waiting", "queue=\"admission\"")).isZero();
      leaving.disconnect();
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 1);
      assertThat(chats).hasValue(1);
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
      assertThat(waiting.reply().status()).isEqualTo(200);
      gateway.works();
      assertThat(chats).hasValue(3);
    }
  }

  @Test
  void theRoutersQueueHasTheSameLimit() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger chats = new AtomicInteger();
    try (ScriptedEngine engine = ScriptedEngine.start(answersAfter(go, chats));
        TestGateway gateway = queueing(engine).queue(10, 10, 100).start();
        RawClient running = gateway.client();
        RawClient waiting = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> chats.get() == 1);
      Reply late = waiting.send(RawClient.post(CHAT, ASK_STREAM)).reply();
      assertThat(late.status()).isEqualTo(503);
      assertThat(late.code()).isEqualTo("queue_timeout");
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 0);
      assertThat(chats).hasValue(1);
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      gateway.works();
    }
  }

  @Test
  void bothQueuesShareOneLimit() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger chats = new AtomicInteger();
    try (ScriptedEngine engine = ScriptedEngine.start(answersAfter(go, chats));
        TestGateway gateway = queueing(engine).queue(2, 10, 300).eventLoops(1).start();
        RawClient running = gateway.client();
        RawClient first = gateway.client();
        RawClient second = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK_STREAM));
      Await.until(() -> chats.get() == 1);
      first.send(RawClient.post(CHAT, ASK_STREAM)); // waits at the router
      second.send(RawClient.post(CHAT, ASK_STREAM)); // waits for its admission, then there
      assertThat(first.reply().code()).isEqualTo("queue_timeout");
      assertThat(second.reply().code()).isEqualTo("queue_timeout");
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void waitingRequestsStartInOrder() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).queue(1, 100).start()) {
      CountDownLatch go = new CountDownLatch(1);
      engine.script(
          (request, link) -> {
            Await.opened("the signal to go on", go);
            EngineLink.answer(request, link);
          });
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        RawClient client = gateway.client();
        clients.add(client);
        client.send(RawClient.post(CHAT, ASK, "X-Request-Id: " + i));
        int queued = i;
        Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == queued);
      }
      go.countDown();
      for (int i = 0; i < clients.size(); i++) {
        assertThat(clients.get(i).reply().status()).isEqualTo(200);
        assertThat(engine.next().field("x-request-id")).isEqualTo(Integer.toString(i));
        clients.get(i).close();
      }
    }
  }

  @Test
  void bodiesBeyondTheBudgetAre503() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).bodyBudget(100_000).start();
        RawClient holder = gateway.client()) {
      holder.send("POST " + CHAT + " HTTP/1.1\r\nHost: x\r\nContent-Length: 99000\r\n\r\n");
      holder.send("x".repeat(98_999));
      Await.until(() -> gateway.metric("kvasir_body_bytes") >= 98_999);
      Reply reply = gateway.post(CHAT, ASK.replace("Hi", "x".repeat(2_000)));
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.code()).isEqualTo("body_budget_exhausted");
      assertThat(reply.field("retry-after")).matches("[1-9][0-9]*");
      holder.disconnect();
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      gateway.works();
    }
  }

  @Test
  void retriesStayWithinTheirBudget() {
    try (ScriptedEngine a = ScriptedEngine.start((request, link) -> link.reset());
        ScriptedEngine b = ScriptedEngine.start((request, link) -> link.reset());
        TestGateway gateway = TestGateway.of(a, b).retryReserve(3).start()) {
      int requests = 40;
      for (int i = 0; i < requests; i++) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(502);
      }
      int retries = a.received() + b.received() - requests;
      assertThat(retries).isBetween(3, 3 + requests / 10);
      assertThat(gateway.metric("kvasir_retries_total")).isEqualTo(retries);
    }
  }

  @Test
  void attemptsAreLimited() {
    try (ScriptedEngine a = ScriptedEngine.start((request, link) -> link.reset());
        ScriptedEngine b = ScriptedEngine.start((request, link) -> link.reset());
        ScriptedEngine c = ScriptedEngine.start((request, link) -> link.reset());
        TestGateway gateway = TestGateway.of(a, b, c).maxAttempts(2).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(502);
      assertThat(a.received() + b.received() + c.received()).isEqualTo(2);
      assertThat(gateway.logLine().path("attempts").asInt()).isEqualTo(2);
    }
  }

  @Test
  void anUnhealthyWorkerGetsNoRequestsUntilItIsHealthy() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).healthEveryMs(50).start()) {
      a.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      int before = a.received();
      for (int i = 0; i < 6; i++) {
        gateway.works();
      }
      assertThat(a.received()).isEqualTo(before);
      b.kill();
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      gateway.works(); // the last one that may serve
      a.kill();
      Await.until(() -> gateway.get("/ready").status() == 503);
      Reply none = gateway.post(CHAT, ASK);
      assertThat(none.status()).isEqualTo(503);
      assertThat(none.code()).isNotEmpty();
      assertThat(gateway.get("/ready").status()).isEqualTo(503);
      assertThat(gateway.get("/health").status()).isEqualTo(200);
      assertThat(gateway.admin("/ready").status()).isEqualTo(503);
    }
  }

  @Test
  void anEngineThatSaysNothingIs504() {
    try (ScriptedEngine engine = ScriptedEngine.start((request, link) -> link.awaitGone());
        TestGateway gateway = TestGateway.of(engine).firstByteTimeoutMs(300).start()) {
      Reply silent = gateway.post(CHAT, ASK);
      assertThat(silent.status()).isEqualTo(504);
      assertThat(silent.code()).isEqualTo("upstream_timeout");
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void aStreamThatFallsSilentEndsWithAnError() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  link.awaitGone();
                });
        TestGateway gateway = TestGateway.of(engine).idleTimeoutMs(300).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(client.event()).contains("Hello");
      assertThat(client.event()).contains("\"error\"");
      assertThat(client.isCut()).isTrue();
      JsonNode line = gateway.logLine();
      assertThat(line.path("error").asText()).contains("300 milliseconds");
    }
  }

  @Test
  void aWorkerThatAcceptsNoConnectionIsPassedOver() throws IOException {
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ScriptedEngine good = ScriptedEngine.good();
        ScriptedEngine dying = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(dying, good).router("round_robin").start()) {
      assertThat(full.getLocalPort()).isPositive();
      dying.kill();
      for (int i = 0; i < 4; i++) {
        gateway.works();
      }
      assertThat(gateway.metric("kvasir_retries_total")).isPositive();
    }
  }

  @Test
  void connectingHasALimit() throws IOException {
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<Socket> fillers = new ArrayList<>();
      for (int i = 0; i < 3; i++) { // the backlog takes two
        Socket filler = new Socket();
        fillers.add(filler);
        try {
          filler.connect(full.getLocalSocketAddress(), 200);
        } catch (IOException e) {
          break;
        }
      }
      String worker = "http://127.0.0.1:" + full.getLocalPort();
      try (TestGateway gateway =
          TestGateway.of(List.of(worker)).healthEveryMs(50).healthTimeoutMs(200).start()) {
        assertThat(gateway.get("/ready").status()).isEqualTo(503);
        Reply reply = gateway.post(CHAT, ASK);
        assertThat(reply.status()).isEqualTo(503); // no worker has named its model yet
      }
      for (Socket filler : fillers) {
        filler.close();
      }
    }
  }
}
