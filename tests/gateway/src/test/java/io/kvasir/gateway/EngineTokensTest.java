package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.CHAT;
import static io.kvasir.gateway.TokenizerScript.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.testing.harness.Await;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How engines behind HTTP are asked for the tokens of prompts, and what becomes of the answers. */
class EngineTokensTest {

  static final String COMPLETIONS = "/v1/completions";
  private static final String RENDER = CHAT + "/render";
  private static final String MESSAGES = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";

  static TestGateway gateway(ScriptedEngine engine, String more) {
    return TestGateway.of(List.of("http://" + engine.name() + more)).router("approximate").start();
  }

  static Reply ask(TestGateway gateway, String path, String fields) {
    Reply reply = gateway.post(path, "{\"model\":\"m\"," + fields + "}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply;
  }

  private static int matched(TestGateway gateway, String path, String fields) {
    return Integer.parseInt(ask(gateway, path, fields).field("x-kvasir-matched-tokens"));
  }

  @Test
  void vllmRendersAChatOrTokenisesIt() {
    TokenizerScript vllm =
        new TokenizerScript().answers(RENDER, "{\"kind\":\"x\",\"token_ids\":" + tokens(70) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      String fields = MESSAGES + ",\"routed_dp_rank\":1,\"max_tokens\":5,\"tools\":[{\"a\":1}]";
      assertThat(matched(gateway, CHAT, fields)).isZero();
      assertThat(vllm.asked())
          .containsExactly(RENDER + " {\"model\":\"m\"," + MESSAGES + ",\"tools\":[{\"a\":1}]}");
      // other limits and users do not change the tokens
      fields = fields.replace("5", "7") + ",\"user\":\"u\",\"temperature\":0";
      assertThat(matched(gateway, CHAT, fields.replace(",\"temperature\":0", ""))).isEqualTo(64);
      assertThat(vllm.asked()).isEmpty();
      assertThat(matched(gateway, CHAT, fields)).isEqualTo(64);
      assertThat(vllm.asked()).hasSize(1);
    }
    vllm =
        new TokenizerScript().answers("/tokenize", "{\"count\":40,\"tokens\":" + tokens(40) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      String kept =
          "\"tools\":[],\"chat_template\":\"t\",\"chat_template_kwargs\":{\"k\":1},"
              + "\"add_generation_prompt\":false";
      String fields = MESSAGES + ",\"stream\":false,\"temperature\":1," + kept;
      assertThat(matched(gateway, CHAT, fields)).isZero();
      assertThat(vllm.asked())
          .containsExactly(
              RENDER + " {\"model\":\"m\"," + MESSAGES + ",\"temperature\":1," + kept + "}",
              "/tokenize {\"model\":\"m\"," + MESSAGES + "," + kept + "}");
      // the missing endpoint is remembered, the answer too
      assertThat(matched(gateway, CHAT, fields)).isEqualTo(32);
      assertThat(vllm.asked()).isEmpty();
      assertThat(matched(gateway, CHAT, MESSAGES)).isEqualTo(32);
      assertThat(vllm.asked()).containsExactly("/tokenize {\"model\":\"m\"," + MESSAGES + "}");
    }
  }

  @Test
  void vllmGetsTheTokensOfACompletionThatItMade() throws Exception {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[7,8,9]}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      String prompt = "\"prompt\":\"One \\u00e9\"";
      ask(gateway, COMPLETIONS, prompt + ",\"add_special_tokens\":false,\"x\":1");
      assertThat(vllm.asked())
          .containsExactly(
              "/tokenize {\"model\":\"m\"," + prompt + ",\"add_special_tokens\":false}");
      assertThat(vllm.requests.take().text())
          .isEqualTo("{\"model\":\"m\",\"prompt\":[7,8,9],\"add_special_tokens\":false,\"x\":1}");
      for (String more :
          new String[] {
            ",\"echo\":true",
            ",\"suffix\":\"s\"",
            ",\"prompt_logprobs\":1",
            ",\"truncate_prompt_tokens\":2"
          }) {
        ask(gateway, COMPLETIONS, prompt + more);
        assertThat(vllm.requests.take().text()).contains(prompt);
      }
      ask(gateway, COMPLETIONS, prompt + ",\"echo\":false,\"suffix\":null");
      assertThat(vllm.requests.take().text()).contains("\"prompt\":[7,8,9]");
      vllm.asked();
      ask(gateway, COMPLETIONS, "\"prompt\":[\"a\\\"\",\"b\"]");
      assertThat(vllm.asked())
          .containsExactly(
              "/tokenize {\"model\":\"m\",\"prompt\":\"a\\\"\"}",
              "/tokenize {\"model\":\"m\",\"prompt\":\"b\"}");
      assertThat(vllm.requests.take().text()).contains("[\"a\\\"\",\"b\"]");
    }
  }

  @Test
  void tokensOfAnEngineThatWasReplacedAreNotSent() throws Exception {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[7,8,9]}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name()))
                .router("approximate")
                .healthEveryMs(10)
                .start()) {
      ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
      assertThat(vllm.requests.take().text()).contains("\"prompt\":[7,8,9]");
      engine.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      vllm.answers("/tokenize", "{\"tokens\":[4,5]}");
      engine.healthy(true);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
      assertThat(vllm.requests.take().text()).contains("\"prompt\":[4,5]");
    }
  }

  @Test
  void anotherWorkerGetsTheTextInsteadOfTheTokens() {
    Map<TokenizerScript, ScriptedEngine> engines = new HashMap<>();
    for (int i = 0; i < 2; i++) {
      TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[7,8,9]}");
      engines.put(vllm, ScriptedEngine.start(vllm));
    }
    try (TestGateway gateway =
        TestGateway.of(engines.values().toArray(new ScriptedEngine[0]))
            .router("approximate")
            .healthEveryMs(10)
            .start()) {
      ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
      for (Map.Entry<TokenizerScript, ScriptedEngine> each : engines.entrySet()) {
        each.getValue().healthy(each.getKey().asked().isEmpty());
        each.getKey().requests.clear();
      }
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
      assertThat(engines.keySet()).allMatch(vllm -> vllm.asked().isEmpty());
      assertThat(engines.keySet().stream().flatMap(vllm -> vllm.requests.stream()))
          .singleElement()
          .extracting(Received::text)
          .asString()
          .contains("\"prompt\":\"Hi\"");
    } finally {
      engines.values().forEach(ScriptedEngine::close);
    }
  }

  @Test
  void tokensInTheRequestAreUsedAsTheyAre() throws Exception {
    for (String[] one :
        new String[][] {
          {"", COMPLETIONS, "\"prompt\":" + tokens(64)},
          {",flavor=sglang", CHAT, MESSAGES + ",\"input_ids\":" + tokens(64)},
          {",flavor=trtllm", CHAT, MESSAGES + ",\"prompt_token_ids\":" + tokens(64)},
          {",flavor=trtllm", COMPLETIONS, "\"prompt\":[" + tokens(64) + "]"},
        }) {
      TokenizerScript none = new TokenizerScript();
      try (ScriptedEngine engine = ScriptedEngine.start(none);
          TestGateway gateway = gateway(engine, one[0])) {
        assertThat(matched(gateway, one[1], one[2])).isZero();
        assertThat(none.requests.take().text()).contains(one[2]);
        assertThat(matched(gateway, one[1], one[2])).isEqualTo(64);
        assertThat(none.asked()).isEmpty();
      }
    }
  }

  @Test
  void sglangTokenisesTexts() throws Exception {
    TokenizerScript sglang =
        new TokenizerScript().answers("/tokenize", "{\"tokens\":" + tokens(64) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(sglang);
        TestGateway gateway = gateway(engine, ",flavor=sglang")) {
      String prompt = "\"prompt\":\"Hi\"";
      assertThat(matched(gateway, COMPLETIONS, prompt)).isZero();
      assertThat(sglang.asked()).containsExactly("/tokenize {\"model\":\"m\",\"prompt\":\"Hi\"}");
      assertThat(sglang.requests.take().text()).contains(prompt);
      assertThat(matched(gateway, COMPLETIONS, prompt)).isEqualTo(64);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"400", "404", "422"})
  void anSglangThatTokenisesNoChatsIsAskedOnce(String status) {
    TokenizerScript sglang = new TokenizerScript().answers("/tokenize", status);
    try (ScriptedEngine engine = ScriptedEngine.start(sglang);
        TestGateway gateway = gateway(engine, ",flavor=sglang")) {
      for (int i = 0; i < 3; i++) {
        assertThat(matched(gateway, CHAT, MESSAGES)).isZero();
      }
      assertThat(sglang.asked()).hasSize(1);
      sglang.answers("/tokenize", "{\"tokens\":[1]}");
      if (!status.equals("404")) { // texts have a memory of their own
        ask(gateway, COMPLETIONS, "\"prompt\":\"Hi\"");
        assertThat(sglang.asked()).hasSize(1);
      }
    }
  }

  @Test
  void tensorRtLlmRendersChatsOnly() {
    TokenizerScript trtllm =
        new TokenizerScript().answers(RENDER, "{\"token_ids\":" + tokens(32) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(trtllm);
        TestGateway gateway = gateway(engine, ",flavor=trtllm")) {
      assertThat(matched(gateway, CHAT, MESSAGES)).isZero();
      assertThat(matched(gateway, CHAT, MESSAGES)).isEqualTo(32);
      assertThat(trtllm.asked()).containsExactly(RENDER + " {\"model\":\"m\"," + MESSAGES + "}");
      assertThat(matched(gateway, COMPLETIONS, "\"prompt\":\"Hi\"")).isZero();
      assertThat(trtllm.asked()).isEmpty();
    }
  }

  @Test
  void otherApisAreAskedAsChatsWhereThatIsClear() {
    TokenizerScript vllm =
        new TokenizerScript().answers("/tokenize", "{\"tokens\":" + tokens(32) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      String chat = "/tokenize {\"model\":\"m\"," + MESSAGES + "}";
      ask(gateway, "/v1/responses", "\"input\":\"Hi\"");
      assertThat(vllm.asked())
          .containsExactly("/v1/responses/render {\"model\":\"m\",\"input\":\"Hi\"}", chat);
      ask(gateway, "/v1/messages", MESSAGES + ",\"max_tokens\":5");
      assertThat(vllm.asked())
          .containsExactly(
              "/v1/messages/render {\"model\":\"m\"," + MESSAGES + ",\"max_tokens\":1}");
      ask(gateway, "/v1/messages", MESSAGES + ",\"system\":\"Be.\"");
      assertThat(vllm.asked()).singleElement().asString().contains("\"role\":\"system\"");
      ask(gateway, "/v1/messages", MESSAGES + ",\"tools\":[{}]");
      ask(gateway, "/v1/responses", "\"input\":\"Hi\",\"instructions\":\"Be.\"");
      assertThat(vllm.asked()).isEmpty();
    }
  }

  /** Claude Code's own bills differ with each request; vLLM drops them. */
  @Test
  void messagesAreRenderedWithoutTheirBills() {
    TokenizerScript vllm =
        new TokenizerScript()
            .answers(
                "/v1/messages/render", "{\"request_id\":\"r\",\"token_ids\":" + tokens(70) + "}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway = gateway(engine, "")) {
      String body = MESSAGES + ",\"max_tokens\":5,\"tools\":[{\"name\":\"a\"}],\"system\":[";
      String kept = "{\"type\":\"text\",\"text\":\"Be.\"}";
      for (int i = 0; i < 3; i++) {
        String bill =
            "{\"type\":\"text\",\"text\":\"x-anthropic-billing-header: cch=" + i + ";\"},";
        int matched = matched(gateway, "/v1/messages", body + bill + kept + "]");
        assertThat(matched).isEqualTo(i == 0 ? 0 : 64);
      }
      assertThat(vllm.asked())
          .singleElement()
          .asString()
          .contains("\"system\":[" + kept + "]")
          .contains("\"tools\"");
    }
  }

  @Test
  void adaptersAreAskedByTheirName() {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[1,2]}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm)) {
      engine.models("{\"data\":[{\"id\":\"m\"},{\"id\":\"sql\",\"parent\":\"m\"}]}");
      try (TestGateway gateway = gateway(engine, "")) {
        for (String model : new String[] {"m", "sql", "m"}) {
          gateway.post(COMPLETIONS, "{\"model\":\"" + model + "\",\"prompt\":\"Hi\"}");
        }
        assertThat(vllm.asked())
            .containsExactly(
                "/tokenize {\"model\":\"m\",\"prompt\":\"Hi\"}",
                "/tokenize {\"model\":\"sql\",\"prompt\":\"Hi\"}");
      }
    }
  }
}
