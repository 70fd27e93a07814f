package io.kvasir.embedded;

import static io.kvasir.embedded.EngineClient.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Refusals of requests. */
class EmbeddedErrorsTest {

  private static final String CHAT = "/v1/chat/completions";

  private static EmbeddedEngine engine;
  private static EngineClient client;

  @BeforeAll
  static void open() {
    engine =
        EmbeddedEngine.open(
            EmbeddedSettings.builder("words")
                .ranks(2)
                .tokensPerBlock(16)
                .poolTokens(512)
                .maxModelLen(256)
                .speed(1e6)
                .build(),
            RankPools.Place.HOST);
    client = new EngineClient(engine);
  }

  @AfterAll
  static void close() {
    engine.close();
    client.close();
  }

  private static JsonNode error(Reply reply, int status, String code) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    assertThat(reply.header("content-type")).isEqualTo("application/json");
    JsonNode error = reply.json().path("error");
    assertThat(error.path("code").asText()).isEqualTo(code);
    assertThat(error.path("message").asText()).isNotEmpty();
    return error;
  }

  @Test
  void invalidJsonIsRefused() {
    error(client.post(CHAT, "{'messages':"), 400, "invalid_json");
    error(client.post(CHAT, "[]"), 400, "invalid_json");
    error(client.post(CHAT, ""), 400, "invalid_json");
    error(client.post(CHAT, chat("a", "") + "x"), 400, "invalid_json");
    error(client.post(CHAT, "{'a':" + "[".repeat(5000)), 400, "invalid_json");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        CHAT + "|{}|messages",
        CHAT + "|{'messages':'a'}|messages",
        CHAT + "|{'messages':[{'content':'a'}]}|messages[0].role",
        CHAT + "|{'messages':[{'role':'user','content':5}]}|messages[0].content",
        CHAT + "|{'messages':[{'role':'user'}],'stream':'yes'}|stream",
        CHAT + "|{'messages':[{'role':'user'}],'max_tokens':0}|max_tokens",
        CHAT + "|{'messages':[{'role':'user'}],'max_tokens':1.5}|max_tokens",
        CHAT + "|{'messages':[{'role':'user'}],'n':9}|n",
        CHAT + "|{'messages':[{'role':'user'}],'stop':['']}|stop",
        CHAT + "|{'messages':[{'role':'user'}],'temperature':'hot'}|temperature",
        CHAT + "|{'messages':[{'role':'user'}],'logprobs':true}|logprobs",
        CHAT
            + "|{'messages':[{'role':'user'}],'response_format':{'type':'json_object'}}|response_format",
        CHAT + "|{'messages':[{'role':'user'}],'tool_choice':'required'}|tool_choice",
        CHAT + "|{'messages':[{'role':'user'}],'data_parallel_rank':2}|data_parallel_rank",
        CHAT + "|{'messages':[{'role':'user'}],'routed_dp_rank':-1}|routed_dp_rank",
        CHAT
            + "|{'messages':[{'role':'user'}],'conversation_params':{}}|conversation_params.conversation_id",
        "/v1/completions|{}|prompt",
        "/v1/completions|{'prompt':''}|prompt",
        "/v1/completions|{'prompt':[]}|prompt",
        "/v1/completions|{'prompt':[1,-1]}|prompt",
        "/v1/completions|{'prompt':[1,'a']}|prompt",
        "/v1/completions|{'prompt':'a','echo':true}|echo",
        "/v1/responses|{}|input",
        "/v1/responses|{'input':[5]}|input",
        "/v1/responses|{'input':'a','background':true}|background",
        "/v1/responses|{'input':'a','n':2}|n",
        "/v1/embeddings|{}|input",
        "/v1/embeddings|{'input':'a','dimensions':0}|dimensions",
        "/v1/embeddings|{'input':'a','encoding_format':'hex'}|encoding_format",
        "/tokenize|{}|prompt",
        "/detokenize|{}|tokens",
      })
  void aWrongFieldIsNamed(String path, String body, String param) {
    Reply reply = client.post(path, body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    JsonNode error = reply.json().path("error");
    assertThat(error.path("param").asText()).isEqualTo(param);
    assertThat(error.path("type").asText()).isEqualTo("invalid_request_error");
    assertThat(error.path("message").asText()).contains(param);
  }

  @Test
  void pathsMethodsAndModelsMustExist() {
    error(client.post("/v1/unknown", "{}"), 404, "not_found");
    error(client.get("/v1/responses/resp_unknown"), 404, "response_not_found");
    error(client.get("/v1/models/unknown"), 404, "model_not_found");
    Reply method = client.get(CHAT);
    error(method, 405, "method_not_allowed");
    assertThat(method.header("allow")).isEqualTo("POST");
    String other = chat("a", "").replace("words", "other");
    assertThat(error(client.post(CHAT, other), 404, "model_not_found").path("message").asText())
        .contains("other");
  }

  @Test
  void tooLongRequestsAreRefusedWithTheirNumbers() {
    int prompt = "<|user|>\n\n<|assistant|>\n".length() + 100;
    Reply fits = client.post(CHAT, chat("x".repeat(100), ",'max_tokens':" + (256 - prompt)));
    assertThat(fits.status()).isEqualTo(200);
    Reply over = client.post(CHAT, chat("x".repeat(100), ",'max_tokens':" + (257 - prompt)));
    assertThat(error(over, 400, "context_length_exceeded").path("message").asText())
        .contains("256", "257", "" + prompt, "" + (257 - prompt));
    error(client.post(CHAT, chat("x".repeat(300), "")), 400, "context_length_exceeded");
    // Without a maximum, the answer takes what is left.
    Reply rest = client.post(CHAT, chat("x".repeat(255 - prompt + 100), ""));
    assertThat(rest.json().at("/usage/completion_tokens").asInt()).isEqualTo(1);
  }

  @Test
  void thePoolLimitsRequestsToo() {
    try (EmbeddedEngine small =
            EmbeddedEngine.open(
                EmbeddedSettings.builder("words")
                    .ranks(1)
                    .tokensPerBlock(16)
                    .poolTokens(64)
                    .speed(1e6)
                    .build(),
                RankPools.Place.HOST);
        EngineClient smallClient = new EngineClient(small)) {
      String prompt = "'prompt':'" + "x".repeat(60) + "','ignore_eos':true";
      assertThat(smallClient.post("/v1/completions", "{" + prompt + ",'max_tokens':5}").status())
          .isEqualTo(200);
      Reply over = smallClient.post("/v1/completions", "{" + prompt + ",'max_tokens':6}");
      assertThat(error(over, 400, "context_length_exceeded").path("message").asText())
          .contains("65", "66", "60");
    }
  }

  @Test
  void theRankHeaderMustBeARank() {
    for (String value : new String[] {"2", "-1", "first"}) {
      Reply reply =
          client
              .send("POST", CHAT, new Headers().add("x-data-parallel-rank", value), chat("a", ""))
              .await();
      assertThat(error(reply, 400, "invalid_value").path("message").asText()).contains(value);
    }
  }

  @Test
  void messagesHaveAnthropicErrors() {
    Reply reply = client.post("/v1/messages", "{'messages':[{'role':'user','content':'a'}]}");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().path("type").asText()).isEqualTo("error");
    assertThat(reply.json().at("/error/type").asText()).isEqualTo("invalid_request_error");
    assertThat(reply.json().at("/error/message").asText()).contains("max_tokens");
    Reply model =
        client.post("/v1/messages", "{'model':'m','max_tokens':1,'messages':[{'role':'user'}]}");
    assertThat(model.json().at("/error/type").asText()).isEqualTo("not_found_error");
  }
}
