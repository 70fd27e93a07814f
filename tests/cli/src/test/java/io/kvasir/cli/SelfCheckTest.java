package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code serve --check} in front of an engine. */
class SelfCheckTest {

  private final AtomicInteger checksUntilHealthy = new AtomicInteger();
  private String owner = "vllm";
  private HttpServer engine;

  @BeforeEach
  void start() throws IOException {
    engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    engine.createContext("/", this::answer);
    engine.start();
  }

  @AfterEach
  void stop() {
    engine.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    switch (exchange.getRequestURI().getPath()) {
      case "/health" -> send(exchange, checksUntilHealthy.getAndDecrement() > 0 ? 503 : 200, "{}");
      case "/v1/models" ->
          send(exchange, 200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"" + owner + "\"}]}");
      case "/v1/chat/completions" -> {
        exchange.getResponseHeaders().add("content-type", "text/event-stream");
        send(exchange, 200, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n");
      }
      default -> send(exchange, 404, "{}");
    }
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private Outcome check(String more) {
    String line = "serve --check --port 0 --admin-port 0 --access-log none --worker ";
    return Outcome.of(Map.of(), line + "http://127.0.0.1:" + engine.getAddress().getPort() + more);
  }

  @Test
  void anEngineThatLoadsIsWaitedFor() {
    checksUntilHealthy.set(3);
    Outcome outcome = check("");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.err())
        .contains("kvasir: waiting at most 60 s (--check-seconds) for workers: 127.0.0.1:")
        .contains("status 503")
        .contains("kvasir: the check was answered")
        .contains("kvasir: model m, chat_completions: approximate: text_prefixes")
        .contains("kvasir: model m, responses: not served: status 404");
  }

  @Test
  void withoutPatienceTheReasonIsNamed() {
    checksUntilHealthy.set(Integer.MAX_VALUE);
    Outcome outcome = check(" --check-seconds 0");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err())
        .contains("kvasir: workers that have not answered: 127.0.0.1:", "status 503")
        .contains("kvasir: no worker is healthy");
  }

  @Test
  void aWrongFlavorFailsTheCheck() {
    owner = "sglang";
    Outcome outcome = check("");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err()).contains("the check was answered").contains("flavor=sglang");
    assertThat(check(",flavor=sglang").exitCode()).isZero();
  }

  @Test
  void patienceNeedsACheck() {
    Outcome outcome = Outcome.of(Map.of(), "serve --check-seconds 1");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("--check-seconds needs --check");
  }
}
