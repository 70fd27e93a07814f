package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A gateway in a process of its own that sends its spans to a collector. */
@Tag("process")
class ExportedTracesTest {

  private static final String ASK = "{\"prompt\":\"a\",\"max_tokens\":1}";

  private final List<String> received = new CopyOnWriteArrayList<>();
  private HttpServer collector;
  private int status = 200;

  @BeforeEach
  void listen() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
          String type = exchange.getRequestHeaders().getFirst("content-type");
          received.add(exchange.getRequestURI().getPath() + " " + type + " " + body);
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    collector.start();
  }

  @AfterEach
  void close() {
    collector.stop(0);
  }

  private String address() {
    return "http://127.0.0.1:" + collector.getAddress().getPort();
  }

  @Test
  void theCollectorHasTheSpansAtTheEndAtTheLatest() throws Exception {
    try (ServingProcess gateway = ServingProcess.embedded("--otlp-traces-endpoint", address())) {
      ServingProcess.post(gateway.url() + "/v1/completions", ASK);
      gateway.terminate();
      assertThat(gateway.exitCode()).isZero();
    }
    assertThat(received)
        .singleElement()
        .asString()
        .startsWith("/v1/traces application/x-protobuf ")
        .contains(
            "POST /v1/completions", "admission", "engine", "service.name", "kvasir.worker_id");
  }

  @Test
  void aCollectorThatFailsIsAWarning() throws Exception {
    status = 400;
    try (ServingProcess gateway =
        ServingProcess.embedded("--otlp-traces-endpoint", address() + "/of/mine")) {
      assertThat(ServingProcess.post(gateway.url() + "/v1/completions", ASK).statusCode())
          .isEqualTo(200);
      Await.until("the spans", () -> !received.isEmpty());
      assertThat(received.get(0)).startsWith("/of/mine ");
      gateway.await("a warning", () -> gateway.output().contains("[WARN]"));
      assertThat(gateway.output().lines().filter(line -> line.contains("[WARN]")))
          .singleElement()
          .asString()
          .contains("export");
    }
  }

  @Test
  void wrongSettingsAreRefused() throws Exception {
    try (ChildProcess gateway =
        ServingProcess.refused("--otlp-traces-endpoint", "localhost:4317")) {
      assertThat(gateway.exitCode()).isEqualTo(2);
      assertThat(gateway.output())
          .contains("--otlp-traces-endpoint must be where a collector takes OTLP over HTTP");
    }
  }
}
