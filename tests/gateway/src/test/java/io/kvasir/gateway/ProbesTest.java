package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Probes of balancers, supervisors and clients, on both ports. */
class ProbesTest {

  private static int status(int port, String method, String path) {
    try (RawClient client = RawClient.to(port)) {
      client.send(method + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
      if (method.equals("HEAD")) {
        int status = client.head().status();
        client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n"); // a body would be in its place
        assertThat(client.head().status()).isEqualTo(200);
        return status;
      }
      Reply reply = client.reply();
      assertThat(reply.text()).isNotEmpty();
      return reply.status();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/health",
        "/healthz",
        "/livez",
        "/ping",
        "/api/hello",
        "/ready",
        "/readyz",
        "/healthz?verbose",
        "/ping?x=1"
      })
  void aProbeIsAnsweredWithoutALineInTheLog(String path) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String method : List.of("GET", "HEAD")) {
        assertThat(status(gateway.gateway().port(), method, path)).isEqualTo(200);
        assertThat(status(gateway.gateway().adminPort(), method, path)).isEqualTo(200);
      }
      assertThat(gateway.post(path, "{}").status()).isEqualTo(405);
      assertThat(gateway.logLines()).isZero();
      assertThat(engine.received()).isZero();
    }
  }

  @Test
  void readinessFollowsTheWorkers() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).healthEveryMs(20).start()) {
      int port = gateway.gateway().port();
      int admin = gateway.gateway().adminPort();
      engine.kill();
      Await.until(() -> status(port, "GET", "/readyz") == 503);
      assertThat(status(port, "HEAD", "/ready")).isEqualTo(503);
      assertThat(status(admin, "HEAD", "/readyz")).isEqualTo(503);
      assertThat(status(port, "GET", "/livez")).isEqualTo(200);
      assertThat(status(port, "GET", "/")).isEqualTo(200);
      assertThat(status(admin, "GET", "/healthz")).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/metrics", "/workers", "/kvasir/ranks"})
  void theAdminPortAnswersHead(String path) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(status(gateway.gateway().adminPort(), "HEAD", path)).isEqualTo(200);
    }
  }

  @Test
  void modelsAnswerHead() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(status(gateway.gateway().port(), "HEAD", "/v1/models")).isEqualTo(200);
      assertThat(status(gateway.gateway().port(), "HEAD", "/v1/models/m")).isEqualTo(200);
    }
  }
}
