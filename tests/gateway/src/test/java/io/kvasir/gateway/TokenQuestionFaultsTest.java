package io.kvasir.gateway;

import static io.kvasir.gateway.EngineTokensTest.COMPLETIONS;
import static io.kvasir.gateway.EngineTokensTest.ask;
import static io.kvasir.gateway.EngineTokensTest.gateway;
import static io.kvasir.gateway.TokenizerScript.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines behind HTTP that answer late or not at all when they are asked for tokens. */
class TokenQuestionFaultsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "500",
        "400",
        "[]",
        "{",
        "{\"tokens\":[]}",
        "{\"tokens\":[1,-2]}",
        "{\"tokens\":[1,\"2\"]}",
        "{\"tokens\":[99999999999]}",
        "{\"tokens\":{}}"
      })
  void aQuestionThatFailsNeverFailsTheRequest(String answer) throws IOException {
    for (String router :
        new String[] {"approximate", "cost", "kv_cache_aware", "polled", "projected"}) {
      TokenizerScript vllm = new TokenizerScript().answers("/tokenize", answer);
      try (ScriptedEngine engine = ScriptedEngine.start(vllm);
          TestGateway gateway =
              TestGateway.of(List.of("http://" + engine.name())).router(router).start()) {
        ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
        JsonNode line = gateway.logLine();
        assertThat(line.path("matched_tokens").asInt()).isZero();
        assertThat(line.path("attempts").asInt()).isEqualTo(1);
        assertThat(JSON.readTree(vllm.requests.remove().body()).path("prompt").asText())
            .isEqualTo("Hi");
      }
    }
  }

  @Test
  void aConcurrentEqualQuestionIsJoined() {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[1,2]}");
    vllm.gate = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        String body = "{\"model\":\"m\",\"prompt\":\"Hi\",\"max_tokens\":" + (i + 1) + "}";
        clients.add(gateway.client().send(RawClient.post(COMPLETIONS, body)));
      }
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 12);
      vllm.gate.countDown();
      for (RawClient client : clients) {
        assertThat(client.reply().status()).isEqualTo(200);
        client.close();
      }
      assertThat(vllm.asked()).hasSize(1);
      assertThat(vllm.requests).hasSize(12);
    }
  }

  @Test
  void aTokenizerThatHangsCostsOneLimit() {
    TokenizerScript vllm = new TokenizerScript();
    vllm.gate = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway =
            TestGateway.of(engine).router("approximate").tokensTimeoutMs(200).start()) {
      ask(gateway, COMPLETIONS, "\"prompt\":\"a\"");
      ask(gateway, COMPLETIONS, "\"prompt\":\"b\"");
      // The way rests after its failure; the limit may pass before the question is sent.
      assertThat(vllm.asked()).hasSizeLessThanOrEqualTo(1);
      vllm.gate.countDown();
    }
  }

  /** The time of a tokenizer grows with the prompt. */
  @Test
  void aLongPromptThatIsLateStopsOnlyLongOnes() {
    TokenizerScript vllm =
        new TokenizerScript().answers("/tokenize", "{\"tokens\":" + tokens(40) + "}");
    vllm.gate = new CountDownLatch(1);
    vllm.gatedBytes = 10_000;
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway =
            TestGateway.of(engine).router("approximate").tokensTimeoutMs(200).start()) {
      String prompt = "\"prompt\":\"" + "long ".repeat(4_000) + "\"";
      Await.until( // on a busy machine the limit may pass before the question is sent
          () -> {
            ask(gateway, COMPLETIONS, prompt);
            return !vllm.asked().isEmpty();
          });
      ask(gateway, COMPLETIONS, "\"prompt\":\"short\"");
      assertThat(vllm.asked()).as("a short one is asked for").hasSize(1);
      ask(gateway, COMPLETIONS, prompt.replace("long", "also"));
      assertThat(vllm.asked()).as("another long one is not").isEmpty();
      vllm.gate.countDown();
    }
  }

  @Test
  void aClientThatLeavesItsQuestionIsForgotten() {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[1,2]}");
    vllm.gate = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      RawClient client = gateway.client();
      client.send(RawClient.post(COMPLETIONS, "{\"model\":\"m\",\"prompt\":\"Hi\"}"));
      Await.until(() -> !vllm.questions.isEmpty());
      client.close();
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      vllm.gate.countDown();
      ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
      assertThat(vllm.requests).hasSize(1);
    }
  }
}
