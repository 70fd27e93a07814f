package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How often engines execute one request of a client. */
class RepetitionTest {

  private static final String JOB =
      "{\"endpoint\":\"/v1/chat/completions\"}"; // names no stored file
  private static final String INPUT = "{\"model\":\"m\",\"input\":\"Hi\"}";
  private static final String RESPONSE = "{\"model\":\"m\",\"input\":\"Hi\"%s}";

  /** Longer than the time in which a closed connection counts as stale. */
  private static final long COMPUTES_MS = 1_300;

  @ParameterizedTest
  @CsvSource({
    "/v1/batches, 1",
    "/v1/fine_tuning/jobs, 1",
    "/v1/embeddings, 2",
    "/tokenize, 2",
    "/detokenize, 2",
    "/v1/messages/count_tokens, 2"
  })
  void onlyWhatComputesIsRepeated(String path, int executions) {
    String body = path.equals("/v1/batches") ? JOB : INPUT;
    for (Script failure :
        new Script[] {(request, link) -> link.reset(), (request, link) -> link.json(503, "{}")}) {
      try (ScriptedEngine a = ScriptedEngine.start(failure);
          ScriptedEngine b = ScriptedEngine.start(failure);
          TestGateway gateway = TestGateway.of(a, b).start()) {
        assertThat(gateway.post(path, body).status()).isIn(502, 503);
        assertThat(a.received() + b.received()).isEqualTo(executions);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/embeddings", "/tokenize", "/detokenize", "/v1/messages/count_tokens"})
  void whatComputesSurvivesAStaleConnection(String path) {
    try (ScriptedEngine engine = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).start();
        RawClient client = gateway.client()) {
      for (int i = 0; i < 3; i++) {
        assertThat(client.send(RawClient.post(path, INPUT)).reply().status()).isEqualTo(200);
      }
      assertThat(gateway.metric("kvasir_retries_total", "stale_connection")).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /v1/files", "POST /v1/batches/b/cancel", "DELETE /v1/files/f"})
  void requestsWithoutABodySurviveAStaleConnection(String line) {
    String request = line + " HTTP/1.1\r\nHost: x\r\n\r\n";
    try (ScriptedEngine engine = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).start();
        RawClient client = gateway.client()) {
      for (int i = 0; i < 3; i++) {
        assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
        assertThat(client.send(request).reply().status()).isEqualTo(200);
      }
    }
  }

  @Test
  void staleConnectionsAreNoFailuresOfTheWorker() {
    BreakerSettings strict = new BreakerSettings(1, 1, 600_000, 600_000, 100, 0);
    try (ScriptedEngine a = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        ScriptedEngine b = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway =
            TestGateway.of(a, b)
                .router("round_robin")
                .eventLoops(1)
                .maxAttempts(1)
                .breaker(strict)
                .start()) {
      for (int status : new int[] {200, 200, 502, 502, 200, 200}) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(status);
      }
    }
  }

  @Test
  void whatNeverLeftIsRepeatedWhateverItIs() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).start()) {
      a.kill();
      Await.until(() -> refuses(a.port()));
      for (int i = 0; i < 4; i++) {
        assertThat(gateway.post("/v1/batches", JOB).status()).isEqualTo(200);
      }
      assertThat(b.received()).isEqualTo(4);
    }
  }

  private static boolean refuses(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return !socket.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|1", // responses are stored by default
        ",\"store\":true|1",
        ",\"store\":false,\"background\":true|1",
        ",\"store\":false|2",
        ",\"store\":false,\"background\":false|2"
      })
  void aResponseThatAnEngineKeepsIsSentOnce(String fields, int executions) {
    Script failure = (request, link) -> link.json(500, "{}");
    try (ScriptedEngine a = ScriptedEngine.start(failure);
        ScriptedEngine b = ScriptedEngine.start(failure);
        TestGateway gateway = TestGateway.of(a, b).start()) {
      assertThat(gateway.post("/v1/responses", RESPONSE.formatted(fields)).status()).isEqualTo(500);
      assertThat(a.received() + b.received()).isEqualTo(executions);
    }
  }

  @Test
  void whatMayNotBeRepeatedGetsAConnectionOfItsOwn() {
    try (ScriptedEngine engine = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      for (int i = 0; i < 3; i++) {
        assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
        assertThat(client.send(RawClient.post("/v1/batches", JOB)).reply().status()).isEqualTo(200);
      }
    }
  }

  private static void closesWhenReused(ScriptedEngine.Received request, EngineLink link)
      throws Exception {
    if (request.number() > 0) {
      link.reset();
    } else {
      EngineLink.answer(request, link);
    }
  }

  @Test
  void staleConnectionsCountAsAttempts() {
    try (ScriptedEngine engine = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).maxAttempts(1).start();
        RawClient client = gateway.client()) {
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(502);
      assertThat(engine.received()).isEqualTo(2);
    }
    try (ScriptedEngine engine = ScriptedEngine.start(RepetitionTest::closesWhenReused);
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).maxAttempts(2).start();
        RawClient client = gateway.client()) {
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      assertThat(gateway.logLine().path("attempts").asInt()).isEqualTo(1);
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      assertThat(gateway.logLine().path("attempts").asInt()).isEqualTo(2);
      assertThat(gateway.metric("kvasir_retries_total", "stale_connection")).isEqualTo(1);
    }
  }

  @Test
  void anEngineThatClosesAfterComputingHasHadTheRequest() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).start();
        RawClient client = gateway.client()) {
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      engine.script(
          (request, link) -> {
            gateway.pass(COMPUTES_MS); // the engine's work
            link.reset();
          });
      Reply reply = client.send(RawClient.post(CHAT, ASK.replace("Hi", "slow"))).reply();
      assertThat(reply.status()).isEqualTo(502);
      assertThat(engine.received()).isEqualTo(2);
      assertThat(gateway.metric("kvasir_retries_total")).isZero();
    }
  }

  @Test
  void aPromptThatIsNotAnsweredInTimeRunsOnce() {
    Script silent = (request, link) -> link.awaitGone();
    try (ScriptedEngine a = ScriptedEngine.start(silent);
        ScriptedEngine b = ScriptedEngine.start(silent);
        TestGateway gateway = TestGateway.of(a, b).firstByteTimeoutMs(300).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(504);
      Await.until("the prompt at an engine", () -> a.received() + b.received() > 0);
      assertThat(a.received() + b.received()).isEqualTo(1);
    }
  }
}
