package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Many clients on several event loops share routers, limits and metrics without losing anything.
 */
class SeveralLoopsTest {

  private static final int LOOPS = 4;
  private static final int CLIENTS = 24;
  private static final int REQUESTS = 40;

  @Test
  void allRequestsAreAnsweredAndCountedOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    Map<String, String> workerOf = new ConcurrentHashMap<>();
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        ScriptedEngine c = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b, c).eventLoops(LOOPS).queue(8, 100).start()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String conversation = "X-Session-Affinity: c" + i;
        clients.add(threads.submit(() -> converse(gateway, conversation, workerOf)));
      }
      for (Future<?> client : clients) {
        Await.result("a conversation", client);
      }
      int all = CLIENTS * REQUESTS;
      assertThat(a.received() + b.received() + c.received()).isEqualTo(all);
      assertThat(gateway.metric("kvasir_requests_total", "status=\"200\"")).isEqualTo(all);
      assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
      assertThat(gateway.metric("kvasir_num_requests_waiting")).isZero();
      assertThat(gateway.metric("kvasir_worker_requests_running")).isZero();
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
      assertThat(workerOf).hasSize(CLIENTS);
      assertThat(workerOf.values()).contains(a.name(), b.name(), c.name());
    } finally {
      threads.shutdownNow();
    }
  }

  /** One client's conversation, on connections of its own; every turn has the same worker. */
  private static void converse(
      TestGateway gateway, String conversation, Map<String, String> workerOf) {
    try (RawClient client = gateway.client()) {
      for (int i = 0; i < REQUESTS; i++) {
        boolean streams = i % 2 == 1;
        client.send(RawClient.post(CHAT, streams ? ASK_STREAM : ASK, conversation));
        RawClient.Reply reply = client.reply();
        assertThat(reply.status()).isEqualTo(200);
        String worker = reply.field("x-kvasir-worker");
        assertThat(worker).isEqualTo(workerOf.computeIfAbsent(conversation, any -> worker));
      }
    }
  }
}
