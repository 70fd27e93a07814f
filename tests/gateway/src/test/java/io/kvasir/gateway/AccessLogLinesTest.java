package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

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
        assertThat(line.path("total_ms").isNumber()).isTrue();
        if (status != 502) { // an engine's own words may occur in an error
          assertThat(line.toString()).doesNotContain(SECRET);
        }
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
