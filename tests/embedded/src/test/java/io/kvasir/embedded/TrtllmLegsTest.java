package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.exchange.Headers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Context and generation apart as TensorRT-LLM does it. */
class TrtllmLegsTest {

  private static final int PROMPT = 18; // four blocks and a half
  private static final long ID = (1L << 42) + 7;

  private TestEngine context;
  private TestEngine generation;

  private void open(UnaryOperator<RoleSettings.Builder> more) {
    context = TestEngine.open(EngineRole.PREFILL, KvConnector.TRTLLM, more);
    generation = TestEngine.open(EngineRole.DECODE, KvConnector.TRTLLM, more);
  }

  @AfterEach
  void close() {
    context.close();
    generation.close();
  }

  private static ObjectNode leg(int seed, int maxTokens, JsonNode params) {
    ObjectNode leg = TestEngine.prompt(PROMPT, seed, maxTokens);
    leg.set("disaggregated_params", params);
    return leg;
  }

  private static ObjectNode contextParams(long id) {
    return TestEngine.json("{'request_type':'context_only'}").put("disagg_request_id", id);
  }

  private ObjectNode answered(int seed, long id) {
    ObjectNode reply = context.answer(TestEngine.TEXT, 0, leg(seed, 6, contextParams(id)));
    return ((ObjectNode) reply.at("/choices/0/disaggregated_params"))
        .put("request_type", "generation_only");
  }

  @Test
  void generationRunsWithTheBlocksOfTheContext() {
    open(settings -> settings);
    ObjectNode reply = context.answer(TestEngine.TEXT, 0, leg(1, 6, contextParams(ID)));
    assertThat(reply.path("prompt_token_ids")).hasSize(PROMPT);
    assertThat(reply.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    ObjectNode params = (ObjectNode) reply.at("/choices/0/disaggregated_params");
    assertThat(params.path("request_type").asText()).isEqualTo("context_only");
    assertThat(params.path("disagg_request_id").longValue()).isEqualTo(ID);
    assertThat(params.path("ctx_request_id").longValue()).isGreaterThan(1L << 53);
    assertThat(params.path("first_gen_tokens")).hasSize(1);
    assertThat(params.path("encoded_opaque_state").isTextual()).isTrue();
    assertThat(params.path("ctx_info_endpoint").asText())
        .isEqualTo("http://127.0.0.1:" + context.port());
    assertThat(params.path("ctx_dp_rank").isInt()).isTrue();
    assertThat(params.path("schedule_style").asInt(-1)).isZero();
    assertThat(params.at("/ctx_usage/prompt_tokens").asInt()).isEqualTo(PROMPT);
    assertThat(context.count("pinned_blocks")).isEqualTo(5);

    params.put("request_type", "generation_only");
    ObjectNode answer = generation.answer(TestEngine.TEXT, 0, leg(1, 6, params));
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(TestEngine.cached(answer)).isZero(); // what the context has reported
    context.awaitIdle();
    generation.awaitIdle();
    assertThat(generation.blocks(0) + generation.blocks(1)).isEqualTo(5);
    ObjectNode again = generation.answer(TestEngine.TEXT, 0, TestEngine.prompt(PROMPT, 1, 6));
    assertThat(TestEngine.cached(again)).isEqualTo(16);
    assertThat(again.at("/choices/0/text")).isEqualTo(answer.at("/choices/0/text"));
  }

  @Test
  void generationFirstWaitsForItsContext() {
    open(settings -> settings);
    JsonNode info = context.client.get("/server_info").json().path("disaggregated_params");
    assertThat(info.path("ctx_dp_size").asInt()).isEqualTo(2);
    assertThat(info.path("ctx_dp_rank").isNull()).isTrue();
    ObjectNode params =
        TestEngine.json("{'request_type':'generation_only','schedule_style':1}")
            .put("disagg_request_id", ID)
            .put("ctx_request_id", ID)
            .setAll((ObjectNode) info);
    refused(generation, params, "disaggregated_params.ctx_info_endpoint"); // a list
    params.set("ctx_info_endpoint", info.at("/ctx_info_endpoint/0"));
    refused(
        generation, params.deepCopy().put("ctx_dp_size", 0), "disaggregated_params.ctx_dp_size");
    Pending pending = generation.send(TestEngine.TEXT, 0, leg(2, 4, params).put("stream", true));
    context.awaitCount("waiting", 1);
    context.answer(TestEngine.TEXT, 0, leg(2, 4, contextParams(ID).put("schedule_style", 1)));
    assertThat(pending.await().events()).hasSize(5);
    context.awaitIdle();
    generation.awaitIdle();
    assertThat(generation.count("received")).isEqualTo(1);
  }

  @Test
  void aChatIsContinuedByItsTokens() {
    open(settings -> settings);
    ObjectNode chat = TestEngine.json(EngineClient.chat("what is a valkyrie", ",'max_tokens':5"));
    chat.set("disaggregated_params", contextParams(ID).put("return_prompt_token_ids_b64", true));
    assertThat(context.answer(TestEngine.CHAT, 0, chat).path("prompt_token_ids_b64").isTextual())
        .isTrue();
    chat.set("disaggregated_params", contextParams(ID + 1).put("conversation_id", "c1"));
    ObjectNode reply = context.answer(TestEngine.CHAT, 0, chat);
    ObjectNode params = (ObjectNode) reply.at("/choices/0/disaggregated_params");
    assertThat(params.path("conversation_id").asText()).isEqualTo("c1");
    chat.set("disaggregated_params", params.put("request_type", "generation_only"));
    assertThat(generation.refusal(TestEngine.CHAT, chat)).isEqualTo("prompt_token_ids");
    chat.set("prompt_token_ids", reply.path("prompt_token_ids"));
    generation.answer(TestEngine.CHAT, 0, chat);
    assertThat(generation.count("received")).isEqualTo(1);
  }

  @Test
  void whatIsNotExactIsRefused() {
    open(settings -> settings);
    String params = "disaggregated_params.";
    refused(context, contextParams(ID - 1000), params + "disagg_request_id");
    refused(context, contextParams(ID).without("disagg_request_id"), params + "disagg_request_id");
    refused(context, contextParams(ID).put("disagg_request_id", "7"), params + "disagg_request_id");
    refused(context, contextParams(ID).put("request_type", "ctx"), params + "request_type");
    refused(context, contextParams(ID).without("request_type"), params + "request_type");
    refused(context, contextParams(ID).put("wat", 1), params + "wat");
    refused(generation, contextParams(ID), params + "request_type");
    ObjectNode streamed = leg(1, 3, contextParams(ID)).put("stream", true);
    assertThat(context.refusal(TestEngine.TEXT, streamed)).isEqualTo("stream");

    ObjectNode good = answered(1, ID);
    refused(context, good, params + "request_type");
    for (String name : List.of("ctx_request_id", "first_gen_tokens", "disagg_request_id")) {
      refused(generation, good.deepCopy().without(name), params + name);
    }
    for (String name : List.of("ctx_dp_rank", "encoded_opaque_state", "schedule_style")) {
      refused(generation, good.deepCopy().without(name), params + name);
    }
    for (String address : List.of("abc", "localhost:8001", "ftp://x", "http://context_1:8001")) {
      refused(
          generation,
          good.deepCopy().put("ctx_info_endpoint", address),
          params + "ctx_info_endpoint");
      String state = base64("kvasir " + address);
      ObjectNode opaque =
          good.deepCopy().put("encoded_opaque_state", state).without("ctx_info_endpoint");
      refused(generation, opaque, params + "encoded_opaque_state");
    }
    long rounded = (long) (double) good.path("ctx_request_id").longValue();
    refused(generation, good.deepCopy().put("ctx_request_id", rounded), params + "ctx_request_id");
    ObjectNode text = leg(1, 3, good).put("prompt", "a text");
    assertThat(generation.refusal(TestEngine.TEXT, text)).isEqualTo("prompt");
    generation.answer(TestEngine.TEXT, 0, leg(1, 3, good));
    context.awaitIdle();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static void refused(TestEngine engine, ObjectNode params, String field) {
    assertThat(engine.refusal(TestEngine.TEXT, leg(1, 3, params))).isEqualTo(field);
  }

  @Test
  void aContextThatFailsOrNeverComesEndsItsGeneration() {
    open(settings -> settings.waitMs(60));
    ObjectNode params =
        TestEngine.json("{'request_type':'generation_only','schedule_style':1}")
            .put("disagg_request_id", ID)
            .put("ctx_request_id", ID)
            .put("ctx_info_endpoint", "http://127.0.0.1:" + context.port());
    Reply reply = generation.post(TestEngine.TEXT, 0, leg(1, 3, params));
    assertThat(reply.status()).isEqualTo(500);
    assertThat(reply.json().at("/error/message").asText()).contains("did not come within 60 ms");
    context.awaitCount("expired", 1);
    answered(3, ID + 1);
    context.awaitCount("expired", 2);
    context.awaitIdle();
    generation.awaitIdle();
  }

  @Test
  void settingsDoNotShowTheirKey() {
    open(settings -> settings);
    RoleSettings.Builder builder = RoleSettings.builder(EngineRole.DECODE, KvConnector.TRTLLM);
    assertThat(builder.build().toString()).contains("authKey=none");
    assertThat(builder.authKey("hidden-words").build().toString())
        .contains("connector=trtllm")
        .doesNotContain("hidden-words");
  }

  @Test
  void generationRequestsAreSigned() throws Exception {
    open(settings -> settings.authKey("secret"));
    ObjectNode params = answered(1, ID);
    String body = leg(1, 3, params).toString();
    assertThat(generation.refusal(TestEngine.TEXT, leg(1, 3, params)))
        .isEqualTo("x-trtllm-disagg-auth");
    String payload =
        "{\"ctx_info_endpoint\":"
            + params.path("ctx_info_endpoint")
            + ",\"encoded_opaque_state\":"
            + params.path("encoded_opaque_state")
            + "}";
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec("secret".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    String signature =
        HexFormat.of().formatHex(mac.doFinal(payload.getBytes(StandardCharsets.UTF_8)));
    Headers headers = new Headers().add("x-trtllm-disagg-auth", "sha256=" + signature);
    TestEngine.ok(generation.client.send("POST", TestEngine.TEXT, headers, body).await());
  }
}
