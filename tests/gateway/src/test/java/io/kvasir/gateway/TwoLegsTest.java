package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests whose prompt one worker computes and whose answer another one. */
class TwoLegsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PARAMS =
      "{\"do_remote_prefill\":true,\"do_remote_decode\":false,\"remote_engine_id\":\"e-1\","
          + "\"remote_block_ids\":[[1,2]],\"remote_request_id\":\"cmpl-1\","
          + "\"remote_host\":\"10.0.0.5\",\"remote_port\":5600,\"tp_size\":2,\"_big\":9223372036854775807}";

  private static String prefilled(String params) {
    return "{\"id\":\"x\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
        + "{\"role\":\"assistant\",\"content\":\"H\"},\"finish_reason\":\"length\"}],"
        + "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,"
        + "\"prompt_tokens_details\":{\"cached_tokens\":8}},"
        + params
        + "}";
  }

  /** A prefill worker's answer, which hands its blocks over. */
  static String prefilled() {
    return prefilled("\"kv_transfer_params\":" + PARAMS);
  }

  private static ScriptedEngine prefill() {
    return ScriptedEngine.start((request, link) -> link.json(200, prefilled()));
  }

  @Test
  void nixlHandsTheBlocksOver() throws IOException {
    try (ScriptedEngine prefill = prefill();
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, "").start()) {
      Reply reply = gateway.post(CHAT, ASK_STREAM);
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      JsonNode first = prefill.next().json();
      assertThat(first.path("stream").asBoolean(true)).isFalse();
      assertThat(first.has("stream_options")).isFalse();
      assertThat(first.path("max_tokens").asInt()).isEqualTo(1);
      assertThat(first.path("kv_transfer_params"))
          .isEqualTo(
              JSON.readTree(
                  """
                  {"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,
                   "remote_block_ids":null,"remote_host":null,"remote_port":null}
                  """));
      JsonNode second = decode.next().json();
      assertThat(second.path("stream").asBoolean()).isTrue();
      assertThat(second.has("max_tokens")).isFalse();
      assertThat(second.path("kv_transfer_params")).isEqualTo(JSON.readTree(PARAMS));
      assertThat(reply.field("x-kvasir-prefill-worker")).isEqualTo(prefill.name());
      assertThat(reply.field("x-kvasir-worker")).isEqualTo(decode.name());
      JsonNode line = gateway.logLine();
      assertThat(line.path("prefill_worker_id").asText()).isEqualTo(prefill.name());
      assertThat(line.path("prefill_cached_tokens").asInt()).isEqualTo(8);
      gateway.awaitIdle();
    }
  }

  @Test
  void anAnswerOfNonsenseIsAFailedAttempt() {
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(200, prefilled("\"a\":1")));
        ScriptedEngine good = prefill();
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        "http://" + prefill.name() + ",role=prefill",
                        "http://" + good.name() + ",role=prefill",
                        "http://" + decode.name() + ",role=decode"))
                .start()) {
      for (int i = 0; i < 4; i++) {
        assertThat(gateway.post(CHAT, ASK, "X-Session-ID: " + i).status()).isEqualTo(200);
      }
      assertThat(good.received()).isEqualTo(4);
      assertThat(prefill.received()).isPositive();
      gateway.awaitIdle();
    }
  }

  @Test
  void withoutPrefillWorkersTheDecodeWorkerServesAll() {
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(503, "{\"error\":\"busy\"}"));
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, "").start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(decode.next().json().has("kv_transfer_params")).isFalse();
      assertThat(gateway.metric("kvasir_local_prefills_total", "reason=\"prefill_failed\""))
          .isEqualTo(1);
      gateway.awaitIdle();
    }
  }

  @Test
  void trtllmGetsTheContextsTokens() throws IOException {
    String params =
        "{\"request_type\":\"context_only\",\"ctx_request_id\":9223372036854775806,"
            + "\"disagg_request_id\":%s,\"encoded_opaque_state\":\"AA==\",\"ctx_dp_rank\":0}";
    try (ScriptedEngine prefill =
            ScriptedEngine.start(
                (request, link) -> {
                  String id =
                      request
                          .json()
                          .path("disaggregated_params")
                          .path("disagg_request_id")
                          .asText();
                  String answer =
                      prefilled("\"prompt_token_ids\":[1,2,3]")
                          .replace(
                              "\"finish_reason\"",
                              "\"disaggregated_params\":"
                                  + params.formatted(id)
                                  + ",\"finish_reason\"");
                  link.json(200, answer);
                });
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, ",flavor=trtllm").start()) {
      Reply reply = gateway.post(CHAT, ASK);
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      JsonNode first = prefill.next().json().path("disaggregated_params");
      assertThat(first.path("request_type").asText()).isEqualTo("context_only");
      assertThat(first.path("disagg_request_id").asLong()).isGreaterThan(1L << 42);
      JsonNode second = decode.next().json();
      assertThat(second.path("prompt_token_ids")).isEqualTo(JSON.readTree("[1,2,3]"));
      JsonNode handed = second.path("disaggregated_params");
      assertThat(handed.path("request_type").asText()).isEqualTo("generation_only");
      assertThat(handed.path("ctx_request_id").asLong()).isEqualTo(9223372036854775806L);
      assertThat(handed.path("disagg_request_id")).isEqualTo(first.path("disagg_request_id"));
      assertThat(handed.path("encoded_opaque_state").asText()).isEqualTo("AA==");
      gateway.awaitIdle();
    }
  }

  @Test
  void aContextThatEndsTheAnswerIsTheReply() {
    try (ScriptedEngine prefill =
            ScriptedEngine.start(
                (request, link) ->
                    link.json(
                        200,
                        prefilled(
                                "\"disaggregated_params\":{\"ctx_request_id\":1,"
                                    + "\"disagg_request_id\":2}")
                            .replace("length", "stop")));
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, ",flavor=trtllm").start()) {
      Reply whole = gateway.post(CHAT, ASK);
      assertThat(whole.text()).contains("\"stop\"").doesNotContain("disaggregated_params");
      Reply stream = gateway.post(CHAT, ASK_STREAM);
      assertThat(stream.text()).contains("\"delta\"").endsWith("data: [DONE]\n\n");
      assertThat(decode.received()).isZero();
      gateway.awaitIdle();
    }
  }

  @Test
  void sglangsLegsMeetInARoom() {
    try (ScriptedEngine prefill = ScriptedEngine.good();
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, ",flavor=sglang").start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      JsonNode first = prefill.next().json();
      JsonNode second = decode.next().json();
      assertThat(first.path("bootstrap_host").asText()).isEqualTo("127.0.0.1");
      for (String field : List.of("bootstrap_host", "bootstrap_port", "bootstrap_room")) {
        assertThat(second.path(field)).isEqualTo(first.path(field));
      }
      gateway.awaitIdle();
    }
  }

  @Test
  void roomsOfOneRankAreDistinct() {
    try (ScriptedEngine prefill = ScriptedEngine.good();
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.ofLegs(prefill, decode, ",flavor=sglang,ranks=8").start()) {
      Set<Long> rooms = new HashSet<>();
      for (int i = 0; i < 40; i++) {
        assertThat(gateway.post(CHAT, ASK, "X-Session-ID: one").status()).isEqualTo(200);
        JsonNode first = prefill.next().json();
        long room = first.path("bootstrap_room").asLong();
        assertThat(rooms.add(room)).isTrue();
        assertThat(room % 8).isEqualTo(first.path("routed_dp_rank").asLong());
      }
    }
  }

  /** Engines give the first answer of a request its room, and each other one the next room. */
  @Test
  void roomsOfSeveralPromptsAreDistinct() {
    String batch = "{\"model\":\"m\",\"n\":2,\"prompt\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}";
    try (ScriptedEngine prefill = ScriptedEngine.good();
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.ofLegs(prefill, decode, ",flavor=sglang,ranks=2").start()) {
      Set<Long> rooms = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        assertThat(gateway.post("/v1/completions", batch).status()).isEqualTo(200);
        long room = prefill.next().json().path("bootstrap_room").asLong();
        for (int answer = 0; answer < 10; answer++) {
          assertThat(rooms.add(room + answer)).isTrue();
        }
      }
    }
  }

  /** A decode worker serves them; SGLang's cannot, but a worker without a role can. */
  @ParameterizedTest
  @CsvSource({"vllm,false", "trtllm,false", "sglang,true"})
  void severalPromptsOrAnswersAreNotSplit(String flavor, boolean both) {
    try (ScriptedEngine prefill = prefill();
        ScriptedEngine decode = ScriptedEngine.good();
        ScriptedEngine whole = ScriptedEngine.good()) {
      List<String> workers = new ArrayList<>();
      workers.add("http://" + prefill.name() + ",role=prefill,flavor=" + flavor);
      workers.add("http://" + decode.name() + ",role=decode,flavor=" + flavor);
      if (both) {
        workers.add("http://" + whole.name() + ",flavor=" + flavor);
      }
      try (TestGateway gateway = TestGateway.of(workers).start()) {
        for (String several : List.of("\"n\":2,\"prompt\":\"a\"", "\"prompt\":[\"a\",\"b\"]")) {
          String body = "{\"model\":\"m\"," + several + "}";
          assertThat(gateway.post("/v1/completions", body).status()).isEqualTo(200);
          JsonNode sent = (both ? whole : decode).next().json();
          assertThat(sent.has("kv_transfer_params")).isFalse();
          assertThat(sent.has("disaggregated_params")).isFalse();
          assertThat(sent.has("bootstrap_room")).isFalse();
        }
        assertThat(prefill.received()).isZero();
      }
    }
  }

  @Test
  void aReplySaysWhatThePrefillWorkerHadCached() {
    String usage =
        "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":10}}";
    try (ScriptedEngine prefill = prefill();
        ScriptedEngine decode =
            ScriptedEngine.start(
                (request, link) -> link.json(200, "{\"choices\":[]," + usage + "}"));
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, "").start()) {
      Reply reply = gateway.post(CHAT, ASK);
      assertThat(reply.json().at("/usage/prompt_tokens_details/cached_tokens").asInt())
          .isEqualTo(8);
      assertThat(gateway.logLine().path("cached_tokens").asInt()).isEqualTo(8);
    }
  }

  @Test
  void aTransferThatHasFailedAtTheDecodeWorkerIsMadeAnew() {
    AtomicInteger decoded = new AtomicInteger();
    try (ScriptedEngine prefill = prefill();
        ScriptedEngine decode =
            ScriptedEngine.start(
                (request, link) -> {
                  if (decoded.getAndIncrement() == 0) {
                    link.json(500, "{\"error\":\"KV load failure\"}");
                  } else {
                    EngineLink.answer(request, link);
                  }
                });
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, "").start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(prefill.received()).isEqualTo(1); // it may be what has failed
      assertThat(gateway.metric("kvasir_local_prefills_total", "reason=\"no_prefill_worker\""))
          .isEqualTo(1);
      gateway.awaitIdle();
    }
  }

  @Test
  void shortPromptsStayWithTheirDecodeWorker() {
    DisaggSettings limited =
        new DisaggSettings(
            DisaggFlow.Style.CONTEXT_FIRST,
            1_000,
            1,
            null,
            new RouterChoice(RouterChoice.AUTO, Map.of()),
            new RouterChoice(RouterChoice.AUTO, Map.of()),
            60_000,
            false,
            false);
    try (StandInServer prefill = StandInServer.leg(EngineRole.PREFILL, KvConnector.NIXL, 2);
        StandInServer decode = StandInServer.leg(EngineRole.DECODE, KvConnector.NIXL, 2);
        TestGateway gateway =
            TestGateway.of(List.of(prefill.leg(), decode.leg())).disagg(limited).start()) {
      String prompt = "{\"model\":\"words\",\"max_tokens\":1,\"prompt\":\"" + "x ".repeat(200);
      assertThat(gateway.post("/v1/completions", prompt + "\"}").status()).isEqualTo(200);
      assertThat(gateway.metric("kvasir_local_prefills_total")).isZero(); // nothing is matched
      Await.until(
          "the short way",
          () -> {
            assertThat(gateway.post("/v1/completions", prompt + "y\"}").status()).isEqualTo(200);
            return gateway.metric("kvasir_local_prefills_total", "reason=\"short\"") > 0;
          });
    }
  }

  @Test
  void aLostPrefillEndsTheLegThatWaitsForIt() {
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(500, "{\"error\":\"oom\"}"));
        ScriptedEngine decode = ScriptedEngine.start((request, link) -> link.awaitGone());
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, ",flavor=sglang").start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(500);
      gateway.awaitIdle();
    }
  }
}
