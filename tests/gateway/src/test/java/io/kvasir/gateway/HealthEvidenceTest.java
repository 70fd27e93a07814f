package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Which health checks and which answers decide whether a worker takes requests. */
class HealthEvidenceTest {

  private static boolean isLate(TestGateway gateway) {
    return gateway.admin("/workers").text().contains("no answer to GET /health");
  }

  @Test
  void aLateWorkerThatStreamsStaysAmongHealthyOnes() {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedEngine slow = ScriptedEngine.good();
        ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(slow, a, b)
                .router("round_robin")
                .healthEveryMs(20)
                .healthTimeoutMs(300)
                .healthFailures(1)
                .start()) {
      slow.healthAfter(over);
      Await.until(
          () -> {
            gateway.works();
            return gateway.admin("/workers").text().contains("but it answers requests");
          });
      int before = slow.received();
      Await.until(
          () -> {
            assertThat(gateway.post(CHAT, ASK_STREAM).status()).isEqualTo(200);
            return slow.received() > before;
          });
      over.countDown();
      Await.until(() -> !isLate(gateway));
      assertThat(gateway.metric("kvasir_worker_healthy")).isEqualTo(3);
    }
  }

  @Test
  void aLateWorkerWithoutRequestsRestsAmongHealthyOnes() {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedEngine slow = ScriptedEngine.good();
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(slow, good).healthEveryMs(20).healthTimeoutMs(300).start()) {
      slow.healthAfter(over);
      Await.until(() -> gateway.metric("kvasir_worker_healthy", slow.name()) == 0);
      int before = slow.received();
      for (int i = 0; i < 6; i++) {
        gateway.works();
      }
      assertThat(slow.received()).isEqualTo(before);
      over.countDown();
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 2);
    }
  }

  @Test
  void aFleetWhoseChecksAllFailIsUsed() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).healthEveryMs(20).start()) {
      a.healthy(false); // answers 503, as engines do that are too busy for a probe of their own
      b.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      for (int i = 0; i < 4; i++) {
        gateway.works();
      }
      assertThat(gateway.get("/ready").status()).isEqualTo(200);
      assertThat(gateway.metric("kvasir_worker_takes_requests")).isEqualTo(2);
    }
  }

  @Test
  void aFleetThatAcceptsNoConnectionsIsRefusedWithTheReason() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).healthEveryMs(20).start()) {
      engine.kill();
      Await.until(() -> gateway.get("/ready").status() == 503);
      Reply reply = gateway.post(CHAT, ASK);
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.code()).isEqualTo("no_endpoint");
      assertThat(reply.message()).contains(engine.name() + ": no connection for GET /health");
      assertThat(gateway.metric("kvasir_worker_takes_requests")).isZero();
    }
  }
}
