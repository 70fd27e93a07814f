package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints of engines that are not OpenAI's, and what the gateway does not serve. */
class EnginePathsTest {

  private static final String TOKENS =
      IntStream.range(0, 80).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
  private static final String TEXT = "\"" + "A long instruction. ".repeat(40) + "\"";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/score",
        "/v1/score",
        "/rerank",
        "/v1/rerank",
        "/v2/rerank",
        "/pooling",
        "/classify",
        "/invocations",
        "/inference/v1/generate",
        "/generate",
        "/v1/embeddings"
      })
  void requestsGoToAWorkerOfTheirModel(String path) {
    try (ScriptedEngine a = ScriptedEngine.start(List.of("a"), EngineLink::answer);
        ScriptedEngine b = ScriptedEngine.start(List.of("b"), EngineLink::answer);
        TestGateway gateway = TestGateway.of(a, b).router("affinity").start()) {
      for (int i = 0; i < 3; i++) {
        assertThat(gateway.post(path, "{\"model\":\"b\",\"input\":\"Hi\"}").status())
            .isEqualTo(200);
        assertThat(b.next().target()).isEqualTo(path);
      }
      assertThat(a.received()).isZero();
      Reply unknown = gateway.post(path, "{\"model\":\"c\",\"input\":\"Hi\"}");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.code()).isEqualTo("model_not_found");
      assertThat(gateway.get(path).status()).isEqualTo(405);
    }
  }

  @Test
  void requestsWithoutAPromptGoToTheLeastLoadedWorker() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).start()) {
      for (int i = 0; i < 4; i++) {
        String body = "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"d\"]}";
        assertThat(gateway.post("/v2/rerank", body).status()).isEqualTo(200);
        assertThat(gateway.logLine().path("reason").asText()).isEqualTo("load");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "vllm, /inference/v1/generate, token_ids",
    "sglang, /generate, input_ids",
    "vllm, /invocations, prompt"
  })
  void theTokensOfAPromptAreMatched(String flavor, String path, String field) {
    String body = "{\"model\":\"m\",\"" + field + "\":" + TOKENS + "}";
    matches(flavor, "approximate", path, body);
  }

  @ParameterizedTest
  @CsvSource({"sglang, /generate, text", "vllm, /generate, prompt", "vllm, /invocations, prompt"})
  void theTextOfAPromptIsMatched(String flavor, String path, String field) {
    String body = "{\"model\":\"m\",\"" + field + "\":" + TEXT + "}";
    matches(flavor, "affinity", path, body);
  }

  @Test
  void aChatOfSageMakersEndpointIsMatched() {
    matches("vllm", "affinity", "/invocations", ASK.replace("\"Hi\"", TEXT));
  }

  @Test
  void allPromptsOfABatchCountForMatches() {
    String other = TOKENS.replace("[", "[9000,");
    String another = TOKENS.replace("[", "[9001,");
    String body = "{\"model\":\"m\",\"prompt\":[%s,%s]}";
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).router("approximate").start()) {
      Reply first = gateway.post("/v1/completions", body.formatted(TOKENS, other));
      String worker = first.field("x-kvasir-worker");
      Reply both = gateway.post("/v1/completions", body.formatted(TOKENS, other));
      assertThat(both.field("x-kvasir-worker")).isEqualTo(worker);
      assertThat(both.field("x-kvasir-matched-tokens")).isEqualTo("128");
      Reply second = gateway.post("/v1/completions", body.formatted(another, other));
      assertThat(second.field("x-kvasir-worker")).as("that of the second prompt").isEqualTo(worker);
      assertThat(second.field("x-kvasir-matched-tokens")).isEqualTo("64");
    }
  }

  @Test
  void allTextsOfABatchCountForMatches() {
    String other = TEXT.replace("A long", "Another long");
    String body = "{\"model\":\"m\",\"prompt\":[%s,%s]}";
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).router("affinity").start()) {
      Reply first = gateway.post("/v1/completions", body.formatted(TEXT, other));
      Reply both = gateway.post("/v1/completions", body.formatted(TEXT, other));
      Reply second = gateway.post("/v1/completions", body.formatted("\"New.\"", other));
      for (Reply reply : List.of(both, second)) {
        assertThat(reply.field("x-kvasir-worker")).isEqualTo(first.field("x-kvasir-worker"));
      }
      int one = Integer.parseInt(second.field("x-kvasir-matched-tokens"));
      assertThat(one).isPositive();
      assertThat(Integer.parseInt(both.field("x-kvasir-matched-tokens"))).isGreaterThan(one);
    }
  }

  @Test
  void usageOfSglangsOwnAnswersIsRead() {
    String[] answers = {generated("Hel", 2), generated("Hello you", 3)};
    ScriptedEngine.Script script =
        (request, link) -> {
          if (request.streams()) {
            link.stream();
            link.event(answers[0]);
            link.event(answers[1]);
            link.endStream();
          } else {
            link.json(200, request.text().contains("[") ? Arrays.toString(answers) : answers[1]);
          }
        };
    try (ScriptedEngine engine = ScriptedEngine.start(script);
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String more : List.of("", ",\"stream\":true")) {
        gateway.post("/generate", "{\"text\":\"Hi\"" + more + "}");
        assertThat(usage(gateway)).isEqualTo("7 prompt, 5 cached, 3 output");
      }
      gateway.post("/generate", "{\"text\":[\"Hi\",\"Ho\"]}");
      assertThat(usage(gateway)).isEqualTo("14 prompt, 10 cached, 5 output");
    }
  }

  private static String generated(String text, int tokens) {
    return "{\"text\":\"%s\",\"meta_info\":{\"prompt_tokens\":7,\"completion_tokens\":%d,\"cached_tokens\":5}}"
        .formatted(text, tokens);
  }

  private static String usage(TestGateway gateway) {
    JsonNode line = gateway.logLine();
    return line.path("prompt_tokens")
        + " prompt, "
        + line.path("cached_tokens")
        + " cached, "
        + line.path("output_tokens")
        + " output";
  }

  private static void matches(String flavor, String router, String path, String body) {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        "http://" + a.name() + ",flavor=" + flavor,
                        "http://" + b.name() + ",flavor=" + flavor))
                .router(router)
                .start()) {
      Reply first = gateway.post(path, body);
      assertThat(first.status()).as(first.text()).isEqualTo(200);
      for (int i = 0; i < 3; i++) {
        Reply next = gateway.post(path, body);
        assertThat(next.field("x-kvasir-worker")).isEqualTo(first.field("x-kvasir-worker"));
        assertThat(Integer.parseInt(next.field("x-kvasir-matched-tokens"))).isGreaterThan(31);
      }
    }
  }

  @Test
  void otherPathsPassIfTheOperatorSaysSo() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).passPaths("/custom", "/a/b").start()) {
      for (String path : List.of("/custom", "/custom/x", "/a/b/c?d=e")) {
        assertThat(gateway.post(path, "{}").status()).isEqualTo(200);
        assertThat(engine.next().target()).isEqualTo(path);
        assertThat(gateway.get(path).status()).isEqualTo(200);
        assertThat(engine.next().method()).isEqualTo("GET");
      }
      for (String path : List.of("/customs", "/a", "/a/bc", "/other", "/custom/../other")) {
        Reply refused = gateway.post(path, "{}");
        assertThat(refused.status()).as(path).isEqualTo(404);
        assertThat(refused.message()).contains("no such path").contains("--pass-paths");
      }
      assertThat(gateway.get("/metrics").message()).contains("admin port");
    }
  }

  @Test
  void aChangeOfOneEngineIsRefusedInWords() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).passPaths("/v1").start()) {
      for (String path : List.of("/v1/load_lora_adapter", "/v1/unload_lora_adapter")) {
        Reply refused = gateway.post(path, "{\"lora_name\":\"x\"}");
        assertThat(refused.status()).isEqualTo(404);
        assertThat(refused.message()).contains("it changes one engine: send it to each engine");
      }
      assertThat(engine.received()).isZero();
    }
  }

  @Test
  void webSocketsAreRefusedInWords() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String upgrade : List.of("websocket", "h2c, WebSocket")) {
        Reply refused =
            gateway.get(
                "/v1/realtime?model=m",
                "Connection: Upgrade",
                "Upgrade: " + upgrade,
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==");
        assertThat(refused.status()).isEqualTo(501);
        assertThat(refused.code()).isEqualTo("websocket_unsupported");
        assertThat(refused.message()).contains("WebSocket");
      }
      assertThat(engine.received()).isZero();
      assertThat(gateway.post(CHAT, ASK, "Connection: Upgrade", "Upgrade: h2c").status())
          .isEqualTo(200);
    }
  }

  @Test
  void aTargetInAbsoluteFormIsServed() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (String start : List.of("http://x", "HTTP://other:1", "https://user@h:443")) {
        assertThat(gateway.post(start + CHAT, ASK).status()).isEqualTo(200);
        assertThat(engine.next().target()).isEqualTo(CHAT);
      }
    }
  }
}
