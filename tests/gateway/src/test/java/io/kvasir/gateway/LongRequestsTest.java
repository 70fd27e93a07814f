package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests that take longer than bookings last. */
class LongRequestsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Requests that the gateway counts as running on its only rank. */
  private static int running(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text())
          .at("/0/ranks/0/load/active_requests")
          .asInt();
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRequestWithoutAStreamCountsForAsLongAsItRuns() {
    CountDownLatch answered = new CountDownLatch(1);
    ScriptedEngine.Script slow =
        (request, link) -> {
          if (request.target().equals(CHAT)) {
            Await.opened("the signal to answer", answered);
            link.json(200, "{}");
          } else {
            link.json(404, "{}"); // no endpoint for tokens
          }
        };
    try (ScriptedEngine engine = ScriptedEngine.start(slow);
        TestGateway gateway = TestGateway.of(engine).router(ShiftedClockPolicy.NAME).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK));
      Await.until("the request is placed", () -> running(gateway) == 1);
      for (int minute = 0; minute < 15; minute++) {
        ShiftedClockPolicy.SHIFT_NS.addAndGet(TimeUnit.MINUTES.toNanos(1));
        int before = ShiftedClockPolicy.ALIVE.get();
        gateway.gateway().reportAlive();
        Await.until("the attempt is renewed", () -> ShiftedClockPolicy.ALIVE.get() > before);
        assertThat(running(gateway)).as("after %d minutes", minute + 1).isEqualTo(1);
      }
      answered.countDown();
      assertThat(client.reply().status()).isEqualTo(200);
      Await.until("the request is over", () -> running(gateway) == 0);
    } finally {
      ShiftedClockPolicy.SHIFT_NS.set(0);
    }
  }
}
