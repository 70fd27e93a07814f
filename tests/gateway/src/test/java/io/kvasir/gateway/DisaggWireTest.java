package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The flow of TensorRT-LLM's disaggregated server, as context and generation servers see it. */
class DisaggWireTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String COMPLETIONS = "/v1/completions";
  private static final String PROMPT = "{\"model\":\"m\",\"max_tokens\":8,\"prompt\":%s%s}";
  private static final String IDS = "\"ctx_request_id\":7,\"disagg_request_id\":8";

  private final List<ScriptedEngine> engines = new ArrayList<>();

  @AfterEach
  void closeEngines() {
    engines.forEach(ScriptedEngine::close);
  }

  private ScriptedEngine engine(ScriptedEngine.Script script) {
    ScriptedEngine engine = ScriptedEngine.start(script);
    engines.add(engine);
    return engine;
  }

  /** A context server whose answers have these choices. */
  private ScriptedEngine context(String... choices) {
    return engine((request, link) -> link.json(200, answer(choices)));
  }

  private static String answer(String... choices) {
    return "{\"id\":\"c\",\"object\":\"text_completion\",\"prompt_token_ids\":[5,6,7],\"choices\":["
        + String.join(",", choices)
        + "]}";
  }

  private static String choice(String finishReason, String params) {
    return "{\"index\":0,\"text\":\"H\",\"finish_reason\":"
        + finishReason
        + ",\"disaggregated_params\":"
        + params
        + "}";
  }

  private static String good() {
    return choice("\"length\"", "{" + IDS + "}");
  }

  private static String worker(ScriptedEngine engine, String role) {
    return "http://" + engine.name() + ",flavor=trtllm,role=" + role;
  }

  // ---- context first ----------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{'finish_reason':'length'}",
        "{'finish_reason':'length','disaggregated_params':null}",
        "{'finish_reason':'length','disaggregated_params':{}}",
        "{'finish_reason':'length','disaggregated_params':"
            + "{'ctx_request_id':null,'disagg_request_id':8}}",
        "{'finish_reason':'length','disaggregated_params':"
            + "{'ctx_request_id':7,'disagg_request_id':null}}",
        "{'finish_reason':'length','disaggregated_params':{'ctx_request_id':7}}",
        "{'finish_reason':'length','disaggregated_params':"
            + "{'ctx_request_id':7,'disagg_request_id':8}},{'finish_reason':'length'}",
      })
  void anAnswerWithoutOneChoiceAndBothIdsIsNotHandedOn(String choices) {
    ScriptedEngine bad = context(choices.replace('\'', '"'));
    ScriptedEngine other = context(good());
    ScriptedEngine generation = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(
                List.of(
                    worker(bad, "context"),
                    worker(other, "context"),
                    worker(generation, "generation")))
            .start()) {
      for (int i = 0; bad.received() == 0; i++) {
        String prompt = PROMPT.formatted("\"p" + i + "\"", "");
        assertThat(gateway.post(COMPLETIONS, prompt, "X-Session-ID: " + i).status()).isEqualTo(200);
        JsonNode handed = generation.next().json().path("disaggregated_params");
        assertThat(handed.path("ctx_request_id").asInt()).isEqualTo(7);
        assertThat(handed.path("disagg_request_id").asInt()).isEqualTo(8);
        assertThat(handed.path("request_type").asText()).isEqualTo("generation_only");
      }
      assertThat(bad.received()).isEqualTo(1);
      gateway.awaitIdle();
    }
  }

  /** The lists of an answer are those of one choice to one prompt, or they are not handed on. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[5,6,7]|[11]|true",
        "[[5,6,7]]|[11]|true",
        "[ [5,6,7] ]|null|true",
        "null|[]|true",
        "[]|[11]|false",
        "[[]]|[11]|false",
        "[[5,6],[7]]|[11]|false",
        "[[5,6],7]|[11]|false",
        "[5,[6,7]]|[11]|false",
        "[[[5,6,7]]]|[11]|false",
        "[5,6.5,7]|[11]|false",
        "[5,\"6\",7]|[11]|false",
        "\"BQAAAA==\"|[11]|false",
        "{\"0\":[5]}|[11]|false",
        "[5,6,7]|[[11],[12]]|false",
        "[5,6,7]|11|false",
      })
  void listsOfSeveralAnswersAreNotHandedOn(String tokens, String first, boolean fits)
      throws IOException {
    String params =
        "{"
            + IDS
            + ",\"ctx_info_endpoint\":[\"tcp://a\",\"tcp://b\"],\"first_gen_tokens\":"
            + first;
    String answer = answer(choice("\"length\"", params + "}")).replace("[5,6,7]", tokens);
    ScriptedEngine context = engine((request, link) -> link.json(200, answer));
    ScriptedEngine generation = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(List.of(worker(context, "context"), worker(generation, "generation")))
            .start()) {
      assertThat(gateway.post(COMPLETIONS, PROMPT.formatted("\"x\"", "")).status()).isEqualTo(200);
      JsonNode sent = generation.next().json();
      assertThat(sent.has("disaggregated_params")).isEqualTo(fits);
      boolean given = fits && !tokens.equals("null");
      assertThat(sent.path("prompt")).isEqualTo(JSON.readTree(given ? "[5,6,7]" : "\"x\""));
      if (fits) {
        JsonNode handed = sent.path("disaggregated_params");
        assertThat(handed.path("ctx_info_endpoint").asText()).isEqualTo("tcp://a");
        assertThat(handed.path("first_gen_tokens")).isEqualTo(JSON.readTree(first));
      }
      gateway.awaitIdle();
    }
  }

  /** What would make it a context request is cleared. */
  @Test
  void withoutAContextServerTheGenerationServerGetsThePlainRequest() {
    ScriptedEngine bad = context(choice("\"length\"", "{\"ctx_request_id\":7}"));
    ScriptedEngine generation = engine(EngineLink::answer);
    String own =
        ",\"disaggregated_params\":{\"request_type\":\"context_only\",\"ctx_request_id\":1}";
    try (TestGateway gateway =
        TestGateway.of(List.of(worker(bad, "context"), worker(generation, "generation"))).start()) {
      assertThat(gateway.post(COMPLETIONS, PROMPT.formatted("\"plain\"", own)).status())
          .isEqualTo(200);
      assertThat(bad.next().json().at("/disaggregated_params/ctx_request_id").isMissingNode())
          .isTrue();
      JsonNode plain = generation.next().json();
      assertThat(plain.has("disaggregated_params")).isFalse();
      assertThat(plain.path("prompt").asText()).isEqualTo("plain");
      assertThat(plain.has("prompt_token_ids")).isFalse();
      gateway.awaitIdle();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "length,true",
    "not_finished,true",
    "stop,false",
    "content_filter,false",
    "tool_calls,false",
    ",false"
  })
  void generationIsSkippedUnlessSomethingIsLeft(String reason, boolean generates) {
    String quoted = reason == null ? "null" : "\"" + reason + "\"";
    ScriptedEngine context = context(choice(quoted, "{" + IDS + "}"));
    ScriptedEngine generation = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(List.of(worker(context, "context"), worker(generation, "generation")))
            .start()) {
      for (String more : List.of("", ",\"stream\":true")) {
        Reply reply = gateway.post(COMPLETIONS, PROMPT.formatted("\"x\"", more));
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        assertThat(reply.text()).doesNotContain("disaggregated_params");
      }
      assertThat(generation.received()).isEqualTo(generates ? 2 : 0);
      gateway.awaitIdle();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"text\"|true",
        "[1,2,3]|true",
        "[\"text\"]|true",
        "[[1,2,3]]|true",
        "[\"one\",\"two\"]|false",
        "[[1,2],[3]]|false"
      })
  void onePromptIsSplitAndItsTokensReplaceIt(String prompt, boolean single) throws IOException {
    ScriptedEngine context = context(good());
    ScriptedEngine generation = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(List.of(worker(context, "context"), worker(generation, "generation")))
            .start()) {
      String id = "X-Session-ID: conversation-1";
      assertThat(gateway.post(COMPLETIONS, PROMPT.formatted(prompt, ""), id).status())
          .isEqualTo(200);
      JsonNode second = generation.next().json();
      assertThat(context.received()).isEqualTo(single ? 1 : 0);
      assertThat(second.path("prompt")).isEqualTo(JSON.readTree(single ? "[5,6,7]" : prompt));
      assertThat(second.has("disaggregated_params")).isEqualTo(single);
      if (single) {
        JsonNode first = context.next().json();
        assertThat(first.path("prompt")).isEqualTo(JSON.readTree(prompt));
        for (JsonNode leg : List.of(first, second)) {
          assertThat(leg.at("/disaggregated_params/conversation_id").asText())
              .isEqualTo("conversation-1");
        }
      }
      gateway.awaitIdle();
    }
  }

  /** The context server's worker is no generation server, and one without a role is neither. */
  @Test
  void thePartsGoToDifferentServers() {
    ScriptedEngine context = context(good());
    ScriptedEngine generation = engine(EngineLink::answer);
    ScriptedEngine whole = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(
                List.of(
                    worker(context, "context"),
                    worker(generation, "generation"),
                    worker(whole, "both")))
            .start()) {
      for (int i = 0; i < 8; i++) {
        String prompt = PROMPT.formatted("\"p" + i + "\"", "");
        assertThat(gateway.post(COMPLETIONS, prompt, "X-Session-ID: " + i).status()).isEqualTo(200);
      }
      assertThat(context.received()).isEqualTo(8);
      assertThat(generation.received()).isEqualTo(8);
      for (int i = 0; i < 8; i++) {
        assertThat(type(context.next())).isEqualTo("context_only");
        assertThat(type(generation.next())).isEqualTo("generation_only");
      }
      assertThat(whole.received()).isZero();
    }
  }

  private static String type(Received request) {
    return request.json().at("/disaggregated_params/request_type").asText();
  }

  // ---- generation first -------------------------------------------------------------------------

  private static DisaggSettings generationFirst() {
    RouterChoice auto = new RouterChoice(RouterChoice.AUTO, Map.of());
    return new DisaggSettings(
        Style.GENERATION_FIRST, -1, 1, null, auto, auto, Await.limitMs(), false, false);
  }

  /** A context server that answers only when the client has the first token would wait forever. */
  @Test
  void generationFirstOpensTheStreamBeforeItAwaitsTheContext() {
    CountDownLatch seen = new CountDownLatch(1);
    ScriptedEngine context =
        engine(
            (request, link) -> {
              Await.opened("the client's first token", seen);
              link.json(200, answer(good()));
            });
    context.fact(
        "/server_info",
        "{\"disaggregated_params\":{\"ctx_dp_rank\":0,"
            + "\"ctx_info_endpoint\":[\"http://10.0.0.1:1\",\"http://10.0.0.2:2\"]}}");
    ScriptedEngine generation = engine(EngineLink::answer);
    try (TestGateway gateway =
            TestGateway.of(List.of(worker(context, "context"), worker(generation, "generation")))
                .disagg(generationFirst())
                .start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(COMPLETIONS, PROMPT.formatted("\"x\"", ",\"stream\":true")));
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(client.event()).contains("Hello");
      seen.countDown();
      JsonNode first = context.next().json();
      JsonNode second = generation.next().json();
      assertThat(first.path("stream").asBoolean(true)).isFalse();
      assertThat(second.path("stream").asBoolean()).isTrue();
      assertThat(second.path("prompt").asText()).isEqualTo("x");
      JsonNode asked = first.path("disaggregated_params");
      JsonNode handed = second.path("disaggregated_params");
      long id = asked.path("disagg_request_id").asLong();
      assertThat(id).isGreaterThanOrEqualTo(1L << 42);
      assertThat(handed.path("disagg_request_id").asLong()).isEqualTo(id);
      assertThat(handed.path("ctx_request_id").asLong()).isEqualTo(id);
      assertThat(asked.path("schedule_style").asInt()).isEqualTo(1);
      assertThat(handed.path("schedule_style").asInt()).isEqualTo(1);
      assertThat(handed.path("ctx_info_endpoint").asText()).isEqualTo("http://10.0.0.1:1");
      gateway.awaitIdle();
    }
  }

  @Test
  void generationFirstExcludesAContextServerThatHasFailed() {
    ScriptedEngine bad = engine((request, link) -> link.json(503, "{\"error\":\"busy\"}"));
    ScriptedEngine other = context(good());
    CountDownLatch dropped = new CountDownLatch(1);
    ScriptedEngine generation =
        engine(
            (request, link) -> {
              String id = request.json().at("/disaggregated_params/ctx_info_endpoint").asText();
              if (id.endsWith("bad")) {
                link.awaitGone();
                dropped.countDown();
              } else {
                EngineLink.answer(request, link);
              }
            });
    bad.fact("/server_info", info("bad"));
    other.fact("/server_info", info("other"));
    try (TestGateway gateway =
        TestGateway.of(
                List.of(
                    worker(bad, "context"),
                    worker(other, "context"),
                    worker(generation, "generation")))
            .disagg(generationFirst())
            .start()) {
      for (int i = 0; bad.received() == 0; i++) {
        String prompt = PROMPT.formatted("\"p" + i + "\"", "");
        assertThat(gateway.post(COMPLETIONS, prompt, "X-Session-ID: " + i).status()).isEqualTo(200);
      }
      Await.opened("the end of the leg that waits for the failed context server", dropped);
      assertThat(bad.received()).isEqualTo(1);
      gateway.awaitIdle();
    }
  }

  private static String info(String name) {
    return "{\"disaggregated_params\":{\"ctx_info_endpoint\":[\"http://" + name + "\"]}}";
  }
}
