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
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Legs of vLLM that run at once: Mooncake's, and NIXL's that push. */
class ConcurrentLegsTest {

  private static final int PROMPT = 18; // four blocks and a half
  private static final String PREFILL =
      "{'do_remote_decode':true,'do_remote_prefill':false,'transfer_id':'xfer-1'}";
  private static final String DECODE =
      "{'do_remote_decode':false,'do_remote_prefill':true,'transfer_id':'xfer-1'}";

  private TestEngine prefill;
  private TestEngine decode;

  private void open(KvConnector connector, UnaryOperator<RoleSettings.Builder> more) {
    prefill = TestEngine.open(EngineRole.PREFILL, connector, more);
    decode = TestEngine.open(EngineRole.BOTH, connector, more);
  }

  @AfterEach
  void close() {
    prefill.close();
    decode.close();
  }

  private static ObjectNode leg(int maxTokens, ObjectNode params) {
    ObjectNode leg = TestEngine.prompt(PROMPT, 1, maxTokens);
    leg.set("kv_transfer_params", params);
    return leg;
  }

  /** The decode leg's parameters for a rank of prefill, as a router makes them. */
  private ObjectNode mooncake(int rank) {
    JsonNode query = prefill.client.get("/query").json();
    return TestEngine.json(DECODE)
        .put("remote_bootstrap_addr", "http://127.0.0.1:" + prefill.port())
        .put("remote_engine_id", query.path("" + rank).path("engine_id").asText());
  }

  private ObjectNode push(int rank) {
    return TestEngine.json(DECODE)
        .put("remote_engine_id", "p_dp" + rank)
        .put("remote_host", "127.0.0.1")
        .put("remote_port", prefill.port())
        .put("tp_size", 1);
  }

  @Test
  void mooncakeNamesTheRankByItsEngineId() {
    open(KvConnector.MOONCAKE, settings -> settings);
    JsonNode query = prefill.client.get("/query").json();
    assertThat(query).hasSize(2);
    assertThat(query.at("/1/engine_id").asText()).endsWith("_dp1");
    assertThat(query.at("/1/worker_addr/0/0").asText()).isEqualTo("127.0.0.1:" + prefill.port());
    meet(mooncake(1), "remote_engine_id");
    assertThat(decode.client.get("/query").json()).hasSize(2); // both roles
  }

  @Test
  void pushNeedsTheEngineBeforehand() {
    open(KvConnector.NIXL_PUSH, settings -> settings.engineId("p"));
    meet(push(1), "remote_engine_id");
    refused(decode, 4, push(1).put("remote_host", "prefill_1"), "kv_transfer_params.remote_host");
  }

  @Test
  void eachRankHasASideChannel() {
    open(KvConnector.NIXL_PUSH, settings -> settings.engineId("p"));
    try (SideChannels side = TestEngine.sideChannels(prefill)) {
      meet(push(1).put("remote_port", side.port() + 1), "remote_port");
      ObjectNode said = prefill.answer(TestEngine.TEXT, 1, leg(1, TestEngine.json(PREFILL)));
      assertThat(said.at("/kv_transfer_params/remote_port").asInt()).isEqualTo(side.port() + 1);
      ObjectNode wrong = push(1).put("remote_port", side.port());
      refused(decode, 4, wrong, "kv_transfer_params.remote_port");
      decode.answer(TestEngine.TEXT, 0, leg(4, push(1).put("remote_port", side.port() + 1)));
    }
  }

  private void meet(ObjectNode params, String otherRank) {
    Pending decoding = decode.send(TestEngine.TEXT, 0, leg(4, params));
    prefill.awaitCount("waiting", 1);
    prefill.answer(TestEngine.TEXT, 1, leg(1, TestEngine.json(PREFILL)));
    ObjectNode answer = TestEngine.ok(decoding.await());
    assertThat(TestEngine.cached(answer)).isEqualTo(16);
    assertThat(decode.blocks(0)).isEqualTo(5);
    prefill.awaitIdle();
    decode.awaitIdle();

    prefill.answer(TestEngine.TEXT, 1, leg(1, TestEngine.json(PREFILL))); // serial, too
    decode.answer(TestEngine.TEXT, 1, leg(4, params));
    prefill.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(2);

    prefill.answer(TestEngine.TEXT, 0, leg(1, TestEngine.json(PREFILL)));
    assertThat(decode.refusal(TestEngine.TEXT, leg(4, params)))
        .isEqualTo("kv_transfer_params." + otherRank);
  }

  @Test
  void pushTakesTheRequestIdWhereThereIsNoTransferId() {
    open(KvConnector.NIXL_PUSH, settings -> settings.engineId("p"));
    ObjectNode first = leg(1, TestEngine.json(PREFILL));
    ((ObjectNode) first.get("kv_transfer_params")).remove("transfer_id");
    assertThat(prefill.refusal(TestEngine.TEXT, first)).isEqualTo("kv_transfer_params.transfer_id");
    ObjectNode second = leg(4, push(1));
    ((ObjectNode) second.get("kv_transfer_params")).remove("transfer_id");
    Headers id = new Headers().add("x-request-id", "r7");
    Pending decoding = decode.client.send("POST", TestEngine.TEXT, id, second.toString());
    Headers ranked = new Headers().add("x-request-id", "r7").add("X-data-parallel-rank", "1");
    TestEngine.ok(prefill.client.send("POST", TestEngine.TEXT, ranked, first.toString()).await());
    TestEngine.ok(decoding.await());
  }

  @Test
  void whatIsNotExactIsRefused() {
    open(KvConnector.MOONCAKE, settings -> settings);
    String params = "kv_transfer_params.";
    refused(prefill, 1, TestEngine.json(PREFILL).put("wat", 1), params + "wat");
    refused(prefill, 1, TestEngine.json(PREFILL).put("transfer_id", 1), params + "transfer_id");
    refused(prefill, 1, TestEngine.json(PREFILL).without("transfer_id"), params + "transfer_id");
    refused(prefill, 1, mooncake(0), params + "do_remote_prefill");
    refused(prefill, 2, TestEngine.json(PREFILL), "max_tokens");
    ObjectNode both = TestEngine.json(PREFILL).put("do_remote_prefill", true);
    refused(prefill, 1, both, params + "do_remote_decode");
    ObjectNode missing = TestEngine.json(PREFILL).without("do_remote_prefill");
    refused(prefill, 1, missing, params + "do_remote_prefill");
    refused(
        decode,
        3,
        mooncake(0).put("remote_bootstrap_addr", "127.0.0.1:1"),
        params + "remote_bootstrap_addr");
    for (String address : List.of("abc", "ftp://x", "http://prefill_1:8998")) {
      ObjectNode named = mooncake(0).put("remote_bootstrap_addr", address);
      refused(decode, 3, named, params + "remote_bootstrap_addr");
    }
    ObjectNode streamed = leg(1, TestEngine.json(PREFILL)).put("stream", true);
    assertThat(prefill.refusal(TestEngine.TEXT, streamed)).isEqualTo("stream");
    ObjectNode several = leg(1, TestEngine.json(PREFILL)).put("n", 2);
    assertThat(prefill.refusal(TestEngine.TEXT, several)).isEqualTo("n");
    for (String name : List.of("transfer_id", "remote_engine_id", "remote_bootstrap_addr")) {
      decode.answer(TestEngine.TEXT, 0, leg(3, mooncake(0).without(name)));
    }
    assertThat(decode.count("recomputed")).isEqualTo(3);
    assertThat(prefill.count("open")).isZero();
  }

  private static void refused(TestEngine engine, int maxTokens, ObjectNode params, String field) {
    assertThat(engine.refusal(TestEngine.TEXT, leg(maxTokens, params))).isEqualTo(field);
  }

  @Test
  void aDecodeLegGivesUpAndAnUnreachablePrefillFailsAtOnce() {
    open(KvConnector.MOONCAKE, settings -> settings.waitMs(60));
    Reply lonely = decode.post(TestEngine.TEXT, 0, leg(4, mooncake(1)));
    assertThat(lonely.status()).isEqualTo(500);
    assertThat(lonely.json().at("/error/message").asText()).contains("did not come within 60 ms");
    ObjectNode params = mooncake(1);
    prefill.close();
    Reply unreachable = decode.post(TestEngine.TEXT, 0, leg(4, params));
    assertThat(unreachable.status()).isEqualTo(500);
    assertThat(unreachable.json().at("/error/message").asText()).contains("does not answer");
    decode.awaitIdle();
  }
}
