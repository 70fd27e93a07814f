package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.net.SocketException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Clients that go away or do not read. */
class ClientGoneTest {

  static Stream<Arguments> moments() {
    Script silent = (request, link) -> {};
    Script headOnly = (request, link) -> link.stream();
    Script comments =
        (request, link) -> {
          link.stream();
          link.chunk(": ping\n\n");
        };
    Script begun =
        (request, link) -> {
          link.stream();
          link.token("Hello");
        };
    Script half =
        (request, link) -> {
          link.head(200, "Content-Type: application/json", "Content-Length: 100");
          link.raw("{");
        };
    return Stream.of(
        Arguments.of("before the head", silent, ASK_STREAM, false),
        Arguments.of("before the head of a whole reply", silent, ASK, false),
        Arguments.of("after the head", headOnly, ASK_STREAM, false),
        Arguments.of("after comments", comments, ASK_STREAM, false),
        Arguments.of("within the stream", begun, ASK_STREAM, true),
        Arguments.of("within a whole reply", half, ASK, true));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("moments")
  void aClientThatGoesReachesTheEngine(String when, Script script, String body, boolean begun)
      throws Exception {
    for (boolean reset : new boolean[] {false, true}) {
      CountDownLatch gone = new CountDownLatch(1);
      try (ScriptedEngine engine = ScriptedEngine.good();
          TestGateway gateway = TestGateway.of(engine).start();
          RawClient client = gateway.client()) {
        if (reset) {
          gateway.works(); // leaves a connection to the engine that the next request uses
          engine.next();
        }
        engine.script(
            (request, link) -> {
              try {
                script.answer(request, link);
                link.awaitGone();
              } catch (SocketException e) {
                // gone before the script's end
              }
              gone.countDown();
            });
        client.send(RawClient.post(CHAT, body));
        engine.next();
        if (begun) {
          client.head();
        }
        if (reset) {
          client.reset();
        } else {
          client.disconnect();
        }
        Await.opened("the end of the connection to the engine", gone);
        if (reset) {
          assertThat(gateway.logLine().path("status").asInt()).isEqualTo(200);
        }
        JsonNode line = gateway.logLine();
        assertThat(line.path("status").asInt()).isEqualTo(499);
        assertThat(line.path("worker_id").asText()).isEqualTo(engine.name());
        engine.script(EngineLink::answer);
        gateway.works();
        Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
        Await.until(() -> gateway.metric("kvasir_worker_requests_running") == 0);
        Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      }
    }
  }

  @Test
  void aClientThatGoesWithinItsBodyIsForgotten() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      try (RawClient client = gateway.client()) {
        byte[] request = RawClient.post(CHAT, ASK);
        client.send(java.util.Arrays.copyOf(request, request.length - 1));
        Await.until(() -> gateway.metric("kvasir_body_bytes") > 0);
      }
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(499);
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
      assertThat(engine.received()).isZero();
      gateway.works();
    }
  }

  @Test
  void aClientThatGoesWhileItWaitsLeavesTheQueue() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  Await.opened("the signal to go on", go);
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = TestGateway.of(engine).queue(1, 10).start();
        RawClient running = gateway.client()) {
      running.send(RawClient.post(CHAT, ASK));
      engine.next();
      try (RawClient waiting = gateway.client()) {
        waiting.send(RawClient.post(CHAT, ASK));
        Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 1);
      }
      JsonNode line = gateway.logLine();
      assertThat(line.path("status").asInt()).isEqualTo(499);
      assertThat(line.has("worker_id")).isFalse();
      assertThat(gateway.metric("kvasir_num_requests_waiting")).isZero();
      go.countDown();
      assertThat(running.reply().status()).isEqualTo(200);
      gateway.works();
      assertThat(engine.received()).isEqualTo(2);
    }
  }

  @Test
  void aSlowReaderPausesTheEngineAndIsCut() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    long[] sent = {0};
    String token = "x".repeat(10_000);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  try {
                    while (true) {
                      link.token(token);
                      sent[0] += token.length();
                    }
                  } catch (SocketException e) {
                    gone.countDown();
                  }
                });
        TestGateway gateway = TestGateway.of(engine).clientTimeoutMs(300).start();
        RawClient client = RawClient.to(gateway.gateway().port(), 4_096)) {
      client.send(RawClient.post(CHAT, ASK_STREAM));
      client.head();
      Await.opened("the end of the connection to the engine", gone);
      assertThat(sent[0]).isLessThan(64 << 20); // what socket buffers hold
      JsonNode line = gateway.logLine();
      assertThat(line.path("status").asInt()).isEqualTo(499);
      assertThat(line.path("error").asText()).contains("did not read");
      engine.script(EngineLink::answer);
      gateway.works();
      Await.until(client::isDisconnected);
    }
  }

  @Test
  void aSlowReaderThatReadsOnIsServed() {
    int tokens = 3_000;
    String token = "x".repeat(1_000);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  for (int i = 0; i < tokens; i++) {
                    link.token(token);
                  }
                  link.endStream();
                });
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = RawClient.to(gateway.gateway().port(), 4_096)) {
      client.send(RawClient.post(CHAT, ASK_STREAM));
      client.head();
      int events = 0;
      for (String event = client.event(); event != null; event = client.event()) {
        events++;
      }
      assertThat(events).isEqualTo(tokens + 1);
    }
  }
}
