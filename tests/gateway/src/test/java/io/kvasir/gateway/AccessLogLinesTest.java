package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The line that each request leaves in the access log, and its traces in the metrics. */
class AccessLogLinesTest {

  private static final String SECRET = "swordfish";

  @Test
  void eachRequestHasOneLineWithoutItsText() {
    String ask = ASK.replace("Hi", SECRET);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      gateway.post(CHAT, ask, "X-Request-Id: one", "X-Session-ID: " + SECRET);
      gateway.post(CHAT + "?" + SECRET, ASK_STREAM.replace("Hi", SECRET));
      gateway.post(CHAT, ask.replace("\"m\"", "\"n\\n\\u0007\\\"\""));
      gateway.post(CHAT, ask.substring(0, ask.length() - 3));
      gateway.post(CHAT, ask.replace("[{", "{\"" + SECRET + "\":1,\"x\":[{").replace("}]", "}]}"));
      gateway.get("/v1/models");
      gateway.get("/v1/x?" + SECRET);
      gateway.get("/nowhere");
      engine.script((request, link) -> link.json(400, "{\"error\":\"" + SECRET + "\"}"));
      gateway.post(CHAT, ask);
      engine.script((request, link) -> link.raw(SECRET + "\r\n\r\n"));
      gateway.post(CHAT, ask);
      int[] statuses = {200, 200, 404, 400, 400, 200, 200, 404, 400, 502};
      List<JsonNode> lines = new ArrayList<>();
      for (int status : statuses) {
        JsonNode line = gateway.logLine();
        lines.add(line);
        assertThat(line.path("status").asInt()).as(line.toString()).isEqualTo(status);
        assertThat(line.path("request_id").asText()).isNotEmpty();
        assertThat(line.path("time").asText()).endsWith("Z");
        assertThat(line.path("client").asText()).contains("127.0.0.1");
        assertThat(line.path("protocol").asText()).isEqualTo("HTTP/1.1");
        assertThat(line.path("total_ms").isNumber()).isTrue();
        assertThat(line.toString()).doesNotContain(SECRET);
      }
      assertThat(gateway.logLines()).isZero();
      JsonNode one = lines.get(0);
      assertThat(one.path("request_id").asText()).isEqualTo("one");
      assertThat(one.path("worker_id").asText()).isEqualTo(engine.name());
      assertThat(one.path("model").asText()).isEqualTo("m");
      assertThat(one.path("dp_rank").asText()).isEqualTo("any");
      assertThat(one.path("reason").asText()).isNotEmpty();
      assertThat(one.path("attempts").asInt()).isEqualTo(1);
      assertThat(one.path("placed_ms").isNumber()).isTrue();
      assertThat(one.path("first_event_ms").asDouble()).isPositive();
      assertThat(one.path("prompt_tokens").asInt()).isEqualTo(7);
      assertThat(one.path("output_tokens").asInt()).isEqualTo(2);
      assertThat(one.has("error")).isFalse();
      assertThat(lines.get(1).path("path").asText()).isEqualTo(CHAT);
    }
  }

  @Test
  void targetsAreInTheLineAndCounted() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      gateway.post(CHAT, ASK_STREAM, "x-llm-d-slo-ttft-ms: 60000", "x-llm-d-slo-tpot-ms: 0.0001");
      gateway.post(CHAT, ASK_STREAM, "x-slo-ttft-ms: 0.0001");
      gateway.post(CHAT, ASK_STREAM);
      JsonNode line = gateway.logLine();
      assertThat(line.path("ttft_target_ms").asDouble()).isEqualTo(60_000);
      assertThat(line.path("tpot_target_ms").asDouble()).isEqualTo(0.0001);
      assertThat(gateway.logLine().has("tpot_target_ms")).isFalse();
      assertThat(gateway.logLine().has("ttft_target_ms")).isFalse();
      String name = "kvasir_latency_targets_total";
      assertThat(gateway.metric(name, "ttft", "true")).isEqualTo(1);
      assertThat(gateway.metric(name, "ttft", "false")).isEqualTo(1);
    }
  }

  /** Sends a reply that has a text somewhere. */
  private interface EchoReply {
    void send(String text, EngineLink link) throws IOException;
  }

  /**
   * A worker's reply that repeats a prompt.
   *
   * @param status what the client gets
   * @param ask the request, with the prompt {@code Hi}
   */
  private record Echo(int status, String ask, EchoReply reply) {}

  static Stream<Named<Echo>> echoes() {
    return Stream.of(
        echo("error", 500, ASK, (text, link) -> link.json(500, error(text))),
        echo("refusal", 400, ASK, (text, link) -> link.json(400, error(text))),
        echo("message", 200, ASK, (text, link) -> link.json(200, error(text))),
        echo("no http", 502, ASK, (text, link) -> link.raw(text + "\r\n\r\n")),
        echo("version", 502, ASK, (text, link) -> link.raw("HTTP/" + text + " 200 OK\r\n\r\n")),
        echo("status", 502, ASK, (text, link) -> link.raw("HTTP/1.1 " + text + " OK\r\n\r\n")),
        echo("reason", 502, ASK, (text, link) -> link.raw("HTTP/1.1 999 " + text + "\r\n\r\n")),
        echo("length", 502, ASK, (text, link) -> link.head(200, "Content-Length: " + text)),
        echo(
            "field name",
            502,
            ASK,
            (text, link) -> link.head(200, text + "(\0): 1", "Content-Length: 0")),
        echo("field value", 502, ASK, (text, link) -> link.head(200, "X: " + text + "\0")),
        echo(
            "fields",
            200,
            ASK,
            (text, link) -> {
              link.raw("HTTP/1.1 200 " + text + "\r\n" + text + ": " + text + "\r\n");
              for (String name : List.of("worker", "dp-rank", "matched-tokens", "reason")) {
                link.raw("x-kvasir-" + name + ": " + text + "\r\n");
              }
              link.raw("X-Request-Id: " + text + "\r\nContent-Length: 2\r\n\r\n{}");
            }),
        echo(
            "chunk size",
            502,
            ASK,
            (text, link) -> {
              link.stream();
              link.raw(text + "\r\n");
            }),
        echo(
            "stream error",
            200,
            ASK_STREAM,
            (text, link) -> {
              link.stream();
              link.event(error(text));
              link.endStream();
            }),
        echo(
            "late stream error",
            200,
            ASK_STREAM,
            (text, link) -> {
              link.stream();
              link.token(text);
              link.chunk("event: error\ndata: " + error(text) + "\n\n");
              link.endStream();
            }),
        echo(
            "late chunk size",
            200,
            ASK_STREAM,
            (text, link) -> {
              link.stream();
              link.token("Hello");
              link.raw(text + "\r\n");
            }));
  }

  private static Named<Echo> echo(String name, int status, String ask, EchoReply reply) {
    return Named.of(name, new Echo(status, ask, reply));
  }

  private static String error(String text) {
    return "{\"error\":{\"message\":\"" + text + "\",\"type\":\"" + text + "\"}}";
  }

  @ParameterizedTest
  @MethodSource("echoes")
  void noLogHasWhatTheEngineEchoes(Echo echo) {
    PrintStream err = System.err;
    ByteArrayOutputStream logged = new ByteArrayOutputStream();
    System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
    try (ScriptedEngine engine =
            ScriptedEngine.start((request, link) -> echo.reply.send(SECRET, link));
        TestGateway gateway = TestGateway.of(engine).breaker(1, 60_000).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, echo.ask.replace("Hi", SECRET))).head();
      JsonNode line = gateway.logLine();
      assertThat(line.path("status").asInt()).as(line.toString()).isEqualTo(echo.status);
      assertThat(line.toString()).doesNotContain(SECRET);
      if (echo.status == 502) {
        assertThat(line.path("error").asText()).isEqualTo("the worker's reply is not valid");
        assertThat(logged.toString(StandardCharsets.UTF_8))
            .contains("worker " + engine.name() + " fails: the worker's reply is not valid");
      }
    } finally {
      System.setErr(err);
    }
    assertThat(logged.toString(StandardCharsets.UTF_8)).doesNotContain(SECRET);
  }

  @Test
  void metricsCountWhatHappened() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (int i = 0; i < 3; i++) {
        gateway.works();
      }
      gateway.post(CHAT, ASK_STREAM);
      gateway.post(CHAT, "{");
      gateway.post(CHAT, ASK.replace("\"m\"", "\"n\""));
      String chat = "endpoint=\"chat_completions\"";
      assertThat(gateway.metric("kvasir_requests_total", chat, "status=\"200\"")).isEqualTo(4);
      assertThat(gateway.metric("kvasir_requests_total", chat, "status=\"400\"")).isEqualTo(1);
      assertThat(gateway.metric("kvasir_requests_total", chat, "status=\"404\"")).isEqualTo(1);
      assertThat(gateway.metric("kvasir_refusals_total", "model_not_found")).isEqualTo(1);
      assertThat(gateway.metric("kvasir_refusals_total", "invalid_request")).isEqualTo(1);
      assertThat(gateway.metric("kvasir_prompt_tokens_total")).isEqualTo(28);
      assertThat(gateway.metric("kvasir_generation_tokens_total")).isEqualTo(8);
      assertThat(gateway.metric("kvasir_time_to_first_token_seconds_count")).isEqualTo(4);
      assertThat(gateway.metric("kvasir_e2e_request_latency_seconds_count")).isEqualTo(4);
      assertThat(gateway.metric("kvasir_worker_healthy", engine.name())).isEqualTo(1);
      assertThat(gateway.metrics()).contains("jvm_memory").doesNotContain("\"n\"");
    }
  }

  @Test
  void modelsOfClientsDoNotBecomeMetrics() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      int before = gateway.metrics().split("\n", -1).length;
      for (int i = 0; i < 50; i++) {
        gateway.post(CHAT, ASK.replace("\"m\"", "\"unknown" + i + "\""));
        gateway.get("/v1/unknown" + i);
        gateway.get("/unknown" + i);
      }
      assertThat(gateway.metrics()).doesNotContain("unknown");
      assertThat(gateway.metrics().split("\n", -1).length).isLessThan(before + 100);
    }
  }
}
