package io.kvasir.embedded;

import static io.kvasir.embedded.EngineClient.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Base64;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What an engine reports about itself, tokens and embeddings. */
class EmbeddedInfoTest {

  private static EmbeddedEngine engine;
  private static EngineClient client;

  @BeforeAll
  static void open() {
    engine =
        EmbeddedEngine.open(
            EmbeddedSettings.builder("words")
                .ranks(2)
                .tokensPerBlock(16)
                .poolTokens(1600)
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

  @Test
  void theModelIsListed() {
    JsonNode models = client.get("/v1/models?limit=5").json();
    assertThat(models.at("/data/0/id").asText()).isEqualTo("words");
    assertThat(client.get("/v1/models/words").json()).isEqualTo(models.at("/data/0"));
  }

  @Test
  void healthVersionAndServerInfo() {
    Reply health = client.get("/health");
    assertThat(health.status()).isEqualTo(200);
    assertThat(health.text()).isEmpty();
    assertThat(client.get("/version").json().path("version").asText()).isNotEmpty();
    JsonNode info = client.get("/server_info").json();
    assertThat(info.path("tokens_per_block").asInt()).isEqualTo(16);
    assertThat(info.path("dp_size").asInt()).isEqualTo(2);
    assertThat(info.path("model").asText()).isEqualTo("words");
  }

  @Test
  void metricsCountTheTokensOfEachRank() {
    double queries = client.metric("vllm:prefix_cache_queries_total", 1);
    double hits = client.metric("vllm:prefix_cache_hits_total", 1);
    String body = chat("w".repeat(64), ",'max_tokens':3,'ignore_eos':true,'routed_dp_rank':1");
    int prompt =
        client.post("/v1/chat/completions", body).json().at("/usage/prompt_tokens").asInt();
    int cached =
        client
            .post("/v1/chat/completions", body)
            .json()
            .at("/usage/prompt_tokens_details/cached_tokens")
            .asInt();
    assertThat(cached).isEqualTo((prompt - 1) / 16 * 16);
    assertThat(client.metric("vllm:prefix_cache_queries_total", 1)).isEqualTo(queries + 2 * prompt);
    assertThat(client.metric("vllm:prefix_cache_hits_total", 1)).isEqualTo(hits + cached);
    assertThat(client.metric("vllm:generation_tokens_total", 1)).isEqualTo(6);
    assertThat(client.metric("vllm:request_success_total", 1)).isEqualTo(2);
    assertThat(client.metric("vllm:num_requests_running", 1)).isZero();
    assertThat(client.get("/metrics").text())
        .contains(
            "vllm:cache_config_info{engine=\"0\",model_name=\"words\",block_size=\"16\","
                + "num_gpu_blocks=\"100\"");
  }

  @Test
  void tokensAreBytes() {
    JsonNode tokens =
        EngineClient.parse(
            client.post("/tokenize", "{'prompt':'aé','return_token_strs':true}").text());
    assertThat(tokens.path("count").asInt()).isEqualTo(3);
    assertThat(tokens.path("tokens")).hasToString("[97,195,169]");
    assertThat(tokens.path("token_strs")).hasSize(3);
    assertThat(
            client
                .post("/detokenize", "{'tokens':" + tokens.path("tokens") + "}")
                .json()
                .path("prompt")
                .asText())
        .isEqualTo("aé");
    JsonNode chat = client.post("/tokenize", chat("hi", "")).json();
    assertThat(chat.path("count").asInt()).isEqualTo("<|user|>\nhi\n<|assistant|>\n".length());
    JsonNode answered =
        client.post("/tokenize", chat("hi", ",'add_generation_prompt':false")).json();
    assertThat(answered.path("count").asInt()).isEqualTo("<|user|>\nhi\n".length());
  }

  @Test
  void embeddingsAreUnitVectors() {
    JsonNode floats =
        client.post("/v1/embeddings", "{'input':['a','b','a'],'dimensions':8}").json();
    assertThat(floats.path("data")).hasSize(3);
    assertThat(floats.at("/data/0/embedding")).isEqualTo(floats.at("/data/2/embedding"));
    assertThat(floats.at("/data/0/embedding")).isNotEqualTo(floats.at("/data/1/embedding"));
    assertThat(floats.at("/usage/prompt_tokens").asInt()).isEqualTo(3);
    double squares = 0;
    for (JsonNode value : floats.at("/data/0/embedding")) {
      squares += value.asDouble() * value.asDouble();
    }
    assertThat(squares).isCloseTo(1, Offset.offset(1e-5));
    String base64 =
        client
            .post("/v1/embeddings", "{'input':[97],'dimensions':8,'encoding_format':'base64'}")
            .json()
            .at("/data/0/embedding")
            .asText();
    FloatBuffer decoded =
        ByteBuffer.wrap(Base64.getDecoder().decode(base64))
            .order(ByteOrder.LITTLE_ENDIAN)
            .asFloatBuffer();
    assertThat(decoded.remaining()).isEqualTo(8);
    for (int i = 0; i < 8; i++) {
      assertThat(decoded.get(i)).isEqualTo(floats.at("/data/0/embedding/" + i).floatValue());
    }
  }

  @Test
  void repliesRepeatTheIdOfTheRequest() {
    Headers id = new Headers().add("X-Request-Id", "r-1");
    Reply reply = client.send("POST", "/v1/chat/completions", id, chat("id", "")).await();
    assertThat(reply.header("x-request-id")).isEqualTo("r-1");
    assertThat(client.send("GET", "/nowhere", id, "").await().header("x-request-id"))
        .isEqualTo("r-1");
  }
}
