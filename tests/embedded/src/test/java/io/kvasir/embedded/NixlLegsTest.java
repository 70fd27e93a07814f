package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Prefill and decode apart as vLLM's NIXL connector does it, pulling. */
class NixlLegsTest {

  private static final int PROMPT = 18; // four blocks and a half
  private static final String FRESH =
      "{'do_remote_decode':true,'do_remote_prefill':false,'remote_engine_id':null,"
          + "'remote_block_ids':null,'remote_host':null,'remote_port':null}";

  private TestEngine prefill;
  private TestEngine decode;

  private void open(UnaryOperator<RoleSettings.Builder> more) {
    prefill = TestEngine.open(EngineRole.PREFILL, KvConnector.NIXL, more);
    decode = TestEngine.open(EngineRole.DECODE, KvConnector.NIXL, more);
  }

  @AfterEach
  void close() {
    prefill.close();
    decode.close();
  }

  static ObjectNode prefillLeg(int seed) {
    ObjectNode leg = TestEngine.prompt(PROMPT, seed, 1);
    leg.set("kv_transfer_params", TestEngine.json(FRESH));
    return leg;
  }

  private static ObjectNode decodeLeg(int seed, JsonNode params) {
    ObjectNode leg = TestEngine.prompt(PROMPT, seed, 6);
    leg.set("kv_transfer_params", params);
    return leg;
  }

  private ObjectNode prefilled(int seed, int rank) {
    ObjectNode reply = prefill.answer(TestEngine.TEXT, rank, prefillLeg(seed));
    return (ObjectNode) reply.path("kv_transfer_params");
  }

  @Test
  void decodeRunsWithTheBlocksOfPrefill() {
    open(settings -> settings.engineId("p"));
    ObjectNode params = prefilled(1, 1);
    assertThat(params.path("do_remote_prefill").booleanValue()).isTrue();
    assertThat(params.path("do_remote_decode").booleanValue()).isFalse();
    assertThat(params.path("remote_engine_id").asText()).isEqualTo("p_dp1");
    assertThat(params.path("remote_block_ids")).hasSize(1);
    assertThat(params.path("remote_block_ids").get(0)).hasSize(5);
    assertThat(params.path("remote_request_id").asText()).startsWith("cmpl-");
    assertThat(params.path("remote_host").asText()).isEqualTo("127.0.0.1");
    assertThat(params.path("remote_port").asInt()).isEqualTo(prefill.port());
    assertThat(params.path("remote_num_tokens").asInt()).isEqualTo(PROMPT);
    assertThat(params.path("tp_size").asInt()).isEqualTo(1);
    assertThat(prefill.transfers().at("/ranks/1/pinned_blocks").asInt()).isEqualTo(5);

    ObjectNode answer = decode.answer(TestEngine.TEXT, 0, decodeLeg(1, params));
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(TestEngine.cached(answer)).isEqualTo(16);
    assertThat(answer.has("kv_transfer_params")).isFalse();
    assertThat(decode.blocks(0)).isEqualTo(5); // with one of the answer
    assertThat(decode.blocks(1)).isZero();
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(1);
    assertThat(decode.count("received")).isEqualTo(1);

    ObjectNode alone = TestEngine.prompt(PROMPT, 1, 6);
    ObjectNode again = decode.answer(TestEngine.TEXT, 0, alone);
    assertThat(TestEngine.cached(again)).isEqualTo(16);
    assertThat(again.at("/choices/0/text")).isEqualTo(answer.at("/choices/0/text"));
    assertThat(TestEngine.cached(decode.answer(TestEngine.TEXT, 1, alone))).isZero();
  }

  @Test
  void manyLegsOnAllRanksLeaveNothingBehind() {
    open(settings -> settings);
    for (int seed = 0; seed < 40; seed++) {
      JsonNode params = prefilled(seed, seed % 2);
      ObjectNode leg = decodeLeg(seed, params).put("stream", true);
      Reply reply = decode.client.post(TestEngine.TEXT, leg.toString()); // to any rank
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    }
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(40);
    assertThat(decode.blocks(0)).isPositive();
    assertThat(decode.blocks(1)).isPositive();
  }

  @Test
  void chatsMoveTheirKvToo() {
    open(settings -> settings);
    ObjectNode chat = TestEngine.json(EngineClient.chat("what is a valkyrie", ",'max_tokens':1"));
    chat.set("kv_transfer_params", TestEngine.json(FRESH));
    JsonNode params = prefill.answer(TestEngine.CHAT, 0, chat).path("kv_transfer_params");
    chat.put("max_tokens", 3).set("kv_transfer_params", params);
    assertThat(TestEngine.cached(decode.answer(TestEngine.CHAT, 1, chat))).isEqualTo(40);
  }

  @Test
  void whatLacksTheAddressIsComputedByDecode() {
    open(settings -> settings);
    ObjectNode params = prefilled(1, 0);
    for (String name :
        List.of("remote_engine_id", "remote_request_id", "remote_host", "remote_port")) {
      ObjectNode leg = decodeLeg(1, params.deepCopy().without(name));
      assertThat(TestEngine.cached(decode.answer(TestEngine.TEXT, 0, leg))).isIn(0, 16);
    }
    assertThat(decode.count("recomputed")).isEqualTo(4);
    assertThat(prefill.count("pinned_blocks")).isEqualTo(5);
  }

  @Test
  void aDecodeLegIsRefusedUnlessItSaysWhatPrefillSaid() {
    open(settings -> settings);
    ObjectNode params = prefilled(1, 0);
    ObjectNode wrong = decodeLeg(1, params.deepCopy().put("remote_num_tokens", 17));
    assertThat(decode.refusal(TestEngine.TEXT, wrong))
        .isEqualTo("kv_transfer_params.remote_num_tokens");
    wrong = decodeLeg(1, params.deepCopy().without("transfer_mode"));
    assertThat(decode.refusal(TestEngine.TEXT, wrong))
        .isEqualTo("kv_transfer_params.transfer_mode");
    wrong = decodeLeg(1, params.deepCopy().put("remote_engine_id", "another_dp0"));
    assertThat(decode.refusal(TestEngine.TEXT, wrong))
        .isEqualTo("kv_transfer_params.remote_engine_id");
    for (String host : List.of("prefill_1", "a b", "user@host")) {
      wrong = decodeLeg(1, params.deepCopy().put("remote_host", host));
      assertThat(decode.refusal(TestEngine.TEXT, wrong))
          .isEqualTo("kv_transfer_params.remote_host");
    }
    assertThat(decode.refusal(TestEngine.TEXT, decodeLeg(2, params))).isEqualTo("prompt");
    decode.answer(TestEngine.TEXT, 0, decodeLeg(1, params));
    prefill.awaitIdle();
  }

  @Test
  void aLeaseRunsOut() {
    open(settings -> settings.leaseMs(20));
    ObjectNode params = prefilled(1, 0);
    prefill.awaitCount("expired", 1);
    prefill.awaitIdle();
    Reply reply = decode.post(TestEngine.TEXT, 0, decodeLeg(1, params));
    assertThat(reply.status()).isEqualTo(500);
    assertThat(reply.json().at("/error/message").asText()).contains("unknown or has expired");
    decode.awaitIdle();
    assertThat(decode.count("failed")).isEqualTo(1);
  }

  @Test
  void withRecomputeDecodeComputesWhatDoesNotCome() {
    open(settings -> settings.leaseMs(20).recompute(true));
    ObjectNode params = prefilled(1, 0);
    prefill.awaitCount("expired", 1);
    assertThat(TestEngine.cached(decode.answer(TestEngine.TEXT, 0, decodeLeg(1, params)))).isZero();
    assertThat(decode.count("recomputed")).isEqualTo(1);
    prefill.close();
    assertThat(TestEngine.cached(decode.answer(TestEngine.TEXT, 1, decodeLeg(1, params)))).isZero();
    decode.awaitIdle();
  }

  @Test
  void aClientThatLeavesLeavesNoBlocksBehind() {
    open(settings -> settings.link(TestEngine.link(0.1)));
    ObjectNode params = prefilled(1, 0);
    Pending pending = decode.send(TestEngine.TEXT, 0, decodeLeg(1, params));
    decode.awaitCount("arriving_blocks", 5);
    pending.run(pending.call::cancel);
    decode.awaitCount("arriving_blocks", 0);
    prefill.awaitIdle(); // as the transfer ends
    assertThat(prefill.count("sent")).isEqualTo(1);
    assertThat(decode.blocks(0)).isZero();
  }

  @Test
  void aDecodeThatDiesLeavesTheBlocksToAnother() {
    open(settings -> settings.link(TestEngine.link(0.5))); // longer than the test
    ObjectNode params = prefilled(1, 0);
    decode.send(TestEngine.TEXT, 0, decodeLeg(1, params));
    prefill.awaitCount("running", 1);
    decode.close();
    prefill.awaitCount("running", 0);
    assertThat(prefill.count("pinned_blocks")).isEqualTo(5);
    assertThat(prefill.count("failed")).isEqualTo(1);
    decode = TestEngine.open(EngineRole.DECODE, KvConnector.NIXL);
    decode.answer(TestEngine.TEXT, 0, TestEngine.prompt(PROMPT, 1, 6)); // two tokens stay missing
    decode.answer(TestEngine.TEXT, 0, decodeLeg(1, params));
    prefill.awaitIdle();
  }

  @Test
  void prefillFetchesTheKvOfAnswers() {
    open(settings -> settings.bothWays(true));
    ObjectNode first = TestEngine.prompt(120, 3, 1);
    first.set("kv_transfer_params", TestEngine.json(FRESH));
    JsonNode params = prefill.answer(TestEngine.TEXT, 0, first).path("kv_transfer_params");
    ObjectNode leg = TestEngine.prompt(120, 3, 9).put("stream", true);
    leg.set("kv_transfer_params", params);
    List<JsonNode> events = decode.post(TestEngine.TEXT, 1, leg).events();
    JsonNode answered = events.get(events.size() - 1).path("kv_transfer_params");
    assertThat(answered.path("do_remote_decode").booleanValue()).isTrue();
    assertThat(answered.path("do_remote_prefill").booleanValue()).isFalse();
    assertThat(answered.path("remote_num_tokens").asInt()).isEqualTo(128);
    decode.awaitCount("pinned_blocks", 32);

    ObjectNode next = TestEngine.prompt(140, 3, 1);
    next.set("kv_transfer_params", answered);
    ObjectNode reply = prefill.answer(TestEngine.TEXT, 1, next); // a rank without the prompt
    assertThat(TestEngine.cached(reply)).isEqualTo(120);
    decode.awaitIdle();
    assertThat(prefill.count("received")).isEqualTo(1);
  }
}
