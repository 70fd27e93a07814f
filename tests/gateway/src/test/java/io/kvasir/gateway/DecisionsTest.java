package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.observe.RecordedDecisions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The last decisions, as {@code GET /kvasir/decisions} lists them. */
class DecisionsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "swordfish";
  private static final String PATH = "/kvasir/decisions";

  private static List<JsonNode> decisions(TestGateway gateway, String query) {
    Reply reply = gateway.admin(PATH + query);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    try {
      List<JsonNode> all = new ArrayList<>();
      JSON.readTree(reply.text()).forEach(all::add);
      return all;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> ids(List<JsonNode> decisions) {
    return decisions.stream().map(each -> each.path("request_id").asText()).toList();
  }

  @Test
  void eachChoiceIsListedWithItsOutcomeAndWithoutTexts() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(decisions(gateway, "")).isEmpty();
      String ask =
          ASK_STREAM
              .replace("Hi", SECRET)
              .replace("\"stream\"", "\"cache_salt\":\"" + SECRET + "\",\"stream\"");
      gateway.post(
          CHAT,
          ask,
          "X-Request-Id: one",
          "X-Session-ID: " + SECRET,
          "Authorization: Bearer " + SECRET);
      gateway.logLine();
      gateway.post(CHAT, ASK, "X-Request-Id: two");
      gateway.logLine();
      gateway.post(CHAT, ASK.replace("\"m\"", "\"unknown\""), "X-Request-Id: three");
      gateway.logLine();
      List<JsonNode> all = decisions(gateway, "");
      assertThat(ids(all)).as("no worker was chosen for the third").containsExactly("two", "one");
      JsonNode one = all.get(1);
      assertThat(one.toString()).doesNotContain(SECRET);
      assertThat(one.path("time").asText()).endsWith("Z");
      assertThat(one.path("endpoint").asText()).isEqualTo("chat_completions");
      assertThat(one.path("model").asText()).isEqualTo("m");
      assertThat(one.path("leg").asText()).isEqualTo("whole");
      assertThat(one.path("attempt").asInt()).isEqualTo(1);
      assertThat(one.path("stream").asBoolean()).isTrue();
      assertThat(one.path("worker_id").asText()).isEqualTo(engine.name());
      assertThat(one.path("dp_rank").asText()).isEqualTo("any");
      assertThat(one.path("reason").asText()).isNotEmpty();
      assertThat(one.path("prompt_tokens").asInt()).as("by the engine").isEqualTo(7);
      assertThat(one.path("candidates").asInt()).isEqualTo(1);
      assertThat(one.path("first_token_ms").asDouble()).isPositive();
      assertThat(one.path("status").asInt()).isEqualTo(200);
      assertThat(one.has("failure")).isFalse();
      assertThat(all.get(0).path("stream").asBoolean(true)).isFalse();
    }
  }

  @Test
  void theListIsBoundedAndFiltered() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      int sent = RecordedDecisions.KEPT + 10;
      for (int i = 0; i < sent; i++) {
        client.send(RawClient.post(CHAT, ASK, "X-Request-Id: id-" + i)).reply();
      }
      List<String> all = ids(decisions(gateway, ""));
      assertThat(all).hasSize(RecordedDecisions.KEPT).doesNotHaveDuplicates();
      assertThat(all).startsWith("id-" + (sent - 1)).endsWith("id-10").doesNotContain("id-9");
      assertThat(ids(decisions(gateway, "?limit=2")))
          .containsExactly("id-" + (sent - 1), "id-" + (sent - 2));
      assertThat(ids(decisions(gateway, "?request-id=id-20&limit=5"))).containsExactly("id-20");
      assertThat(ids(decisions(gateway, "?request-id=id%2D20"))).containsExactly("id-20");
      assertThat(decisions(gateway, "?request-id=id-9")).as("overwritten").isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?limit=0",
        "?limit=x",
        "?limit=257",
        "?limit=",
        "?id=1",
        "?limit=1&limit=2",
        "?request-id=%zz"
      })
  void aWrongParameterIsRefused(String query) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.admin(PATH + query);
      assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    }
  }

  @Test
  void aFailedAttemptAndItsRepetitionAreTwoDecisions() {
    try (ScriptedEngine bad =
            ScriptedEngine.start((request, link) -> link.json(503, "{\"error\":\"busy\"}"));
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      for (int i = 0; i < 2; i++) {
        gateway.post(CHAT, ASK, "X-Request-Id: id-" + i);
        gateway.logLine();
      }
      List<JsonNode> failed =
          decisions(gateway, "").stream().filter(each -> each.has("failure")).toList();
      assertThat(failed).isNotEmpty();
      assertThat(failed.get(0).path("failure").asText()).isEqualTo("status_503");
      assertThat(failed.get(0).path("worker_id").asText()).isEqualTo(bad.name());
      String id = failed.get(0).path("request_id").asText();
      List<JsonNode> both = decisions(gateway, "?request-id=" + id);
      assertThat(both).hasSize(2);
      assertThat(both.get(0).path("worker_id").asText()).isEqualTo(good.name());
      assertThat(both.get(0).path("attempt").asInt()).isEqualTo(2);
      assertThat(both.get(0).path("status").asInt()).isEqualTo(200);
    }
  }

  @Test
  void aRequestOfTwoLegsHasBoth() {
    String prefilled =
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
            + "{\"role\":\"assistant\",\"content\":\"H\"},\"finish_reason\":\"length\"}],"
            + "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":8}},"
            + "\"kv_transfer_params\":{\"do_remote_prefill\":true,\"do_remote_decode\":false,"
            + "\"remote_engine_id\":\"e-1\",\"remote_block_ids\":[[1,2]],"
            + "\"remote_request_id\":\"cmpl-1\",\"remote_host\":\"10.0.0.5\",\"remote_port\":5600}}";
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(200, prefilled));
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway = TestGateway.ofLegs(prefill, decode, "").start()) {
      assertThat(gateway.post(CHAT, ASK_STREAM, "X-Request-Id: both").status()).isEqualTo(200);
      gateway.logLine();
      List<JsonNode> legs = decisions(gateway, "?request-id=both");
      assertThat(legs).hasSize(2);
      assertThat(legs.get(0).path("leg").asText()).isEqualTo("decode");
      assertThat(legs.get(0).path("worker_id").asText()).isEqualTo(decode.name());
      assertThat(legs.get(0).path("first_token_ms").asDouble()).isPositive();
      assertThat(legs.get(1).path("leg").asText()).isEqualTo("prefill");
      assertThat(legs.get(1).path("worker_id").asText()).isEqualTo(prefill.name());
      assertThat(legs.get(1).path("cached_tokens").asInt()).isEqualTo(8);
      assertThat(legs.get(1).path("first_token_ms").asDouble()).isPositive();
      assertThat(legs).allMatch(leg -> leg.path("status").asInt() == 200);
    }
  }

  @Test
  void aPolicyThatExpectsTimesIsShownWithThemAndItsTerms() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first, second).router("projected").start()) {
      gateway.post(CHAT, ASK_STREAM);
      gateway.logLine();
      JsonNode decision = decisions(gateway, "").get(0);
      assertThat(decision.path("candidates").asInt()).isEqualTo(2);
      assertThat(decision.path("prompt_tokens").asInt()).as(decision.toString()).isPositive();
      assertThat(decision.path("expected_first_token_ms").asDouble()).isPositive();
      assertThat(decision.path("cost_terms").has("compute")).as(decision.toString()).isTrue();
    }
  }
}
