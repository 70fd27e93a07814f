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

/** Prefill and decode apart as SGLang does it, with bootstrap rooms. */
class BootstrapLegsTest {

  private static final int PROMPT = 18; // four blocks and a half
  private static final long ROOM = (1L << 62) + 1; // on rank 1 of 2

  private TestEngine prefill;
  private TestEngine decode;

  private void open(UnaryOperator<RoleSettings.Builder> more) {
    prefill = TestEngine.open(EngineRole.PREFILL, KvConnector.BOOTSTRAP, more);
    decode = TestEngine.open(EngineRole.DECODE, KvConnector.BOOTSTRAP, more);
  }

  @AfterEach
  void close() {
    prefill.close();
    decode.close();
  }

  private ObjectNode leg(int seed, long room) {
    return TestEngine.prompt(PROMPT, seed, 6)
        .put("bootstrap_host", "127.0.0.1")
        .put("bootstrap_port", prefill.port())
        .put("bootstrap_room", room);
  }

  /** Sends a leg to the rank that it names, or to any. */
  private static Pending send(TestEngine engine, ObjectNode leg) {
    return engine.client.send(TestEngine.TEXT, leg.toString());
  }

  @Test
  void bothLegsMeetInTheirRoom() {
    open(settings -> settings);
    JsonNode info = prefill.client.get("/server_info").json();
    assertThat(info.path("disaggregation_mode").asText()).isEqualTo("prefill");
    assertThat(info.path("disaggregation_bootstrap_port").asInt()).isEqualTo(prefill.port());
    Pending first = send(prefill, leg(1, ROOM));
    prefill.awaitCount("pinned_blocks", 5);
    assertThat(prefill.transfers().at("/ranks/1/pinned_blocks").asInt()).isEqualTo(5);
    assertThat(first.reply).isNotDone(); // until its KV is fetched
    ObjectNode answer = TestEngine.ok(send(decode, leg(1, ROOM)).await());
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(TestEngine.cached(answer)).isZero(); // those of prefill
    ObjectNode discarded = TestEngine.ok(first.await());
    assertThat(discarded.at("/usage/completion_tokens").asInt()).isEqualTo(1);
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(1);
    assertThat(decode.count("received")).isEqualTo(1);
    assertThat(decode.blocks(0) + decode.blocks(1)).isEqualTo(5);
  }

  @Test
  void decodeMayComeFirstAndReportsWhatPrefillHadCached() {
    open(settings -> settings);
    for (int turn = 0; turn < 2; turn++) {
      Pending decoding =
          send(
              decode,
              leg(2, 10 + 2 * turn)
                  .put("stream", true)
                  .set("stream_options", TestEngine.json("{'include_usage':true}")));
      prefill.awaitCount("waiting", 1);
      TestEngine.ok(send(prefill, leg(2, 10 + 2 * turn)).await());
      List<JsonNode> events = decoding.await().events();
      assertThat(TestEngine.cached(events.get(events.size() - 1))).isEqualTo(16 * turn);
    }
    prefill.awaitIdle();
  }

  @Test
  void ranksAreNamedOrFollowTheRoom() {
    open(settings -> settings);
    ObjectNode onZero = leg(3, ROOM).put("routed_dp_rank", 0);
    Pending first = send(prefill, onZero);
    prefill.awaitCount("pinned_blocks", 5);
    assertThat(prefill.transfers().at("/ranks/0/pinned_blocks").asInt()).isEqualTo(5);
    assertThat(decode.refusal(TestEngine.TEXT, leg(3, ROOM))).isEqualTo("disagg_prefill_dp_rank");
    ObjectNode named = leg(3, ROOM).put("disagg_prefill_dp_rank", 0).put("routed_dp_rank", 1);
    TestEngine.ok(send(decode, named).await());
    TestEngine.ok(first.await());
    assertThat(decode.blocks(1)).isEqualTo(5);
    assertThat(decode.blocks(0)).isZero();
  }

  @Test
  void whatIsNotExactIsRefused() {
    open(settings -> settings);
    for (TestEngine engine : List.of(prefill, decode)) {
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).without("bootstrap_room")))
          .isEqualTo("bootstrap_room");
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).put("bootstrap_room", "7")))
          .isEqualTo("bootstrap_room");
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, -1))).isEqualTo("bootstrap_room");
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).without("bootstrap_host")))
          .isEqualTo("bootstrap_host");
      if (engine == decode) {
        assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).put("bootstrap_host", "prefill_1")))
            .isEqualTo("bootstrap_host");
      }
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).put("bootstrap_port", 0)))
          .isEqualTo("bootstrap_port");
      assertThat(engine.refusal(TestEngine.TEXT, leg(1, 7).put("disagg_prefill_dp_rank", "0")))
          .isEqualTo("disagg_prefill_dp_rank");
      assertThat(engine.refusal(TestEngine.TEXT, TestEngine.prompt(PROMPT, 1, 3)))
          .isEqualTo("bootstrap_room");
    }
    assertThat(prefill.count("open")).isZero();
  }

  @Test
  void neitherLegWaitsForEver() {
    open(settings -> settings.waitMs(60));
    Reply lonely = send(decode, leg(1, 7)).await();
    assertThat(lonely.status()).isEqualTo(500);
    assertThat(lonely.json().at("/error/message").asText()).contains("did not come within 60 ms");
    Reply unfetched = send(prefill, leg(1, 9)).await();
    assertThat(unfetched.status()).isEqualTo(500);
    assertThat(unfetched.json().at("/error/message").asText()).contains("has run out");
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("expired")).isEqualTo(2);
  }

  @Test
  void aLegWhoseClientLeavesEndsTheOther() {
    open(settings -> settings);
    Pending first = send(prefill, leg(1, ROOM));
    prefill.awaitCount("pinned_blocks", 5);
    first.run(first.call::cancel);
    prefill.awaitIdle();
    assertThat(prefill.count("failed")).isEqualTo(1);

    prefill.close();
    decode.close();
    open(settings -> settings.link(TestEngine.link(10)));
    Pending second = send(prefill, leg(1, ROOM));
    Pending decoding = send(decode, leg(1, ROOM));
    prefill.awaitCount("running", 1);
    second.run(second.call::cancel);
    assertThat(decoding.await().status()).isEqualTo(500);
    prefill.awaitIdle();
    decode.awaitIdle();
  }

  @Test
  void aDecodeLegWhoseClientLeavesTakesItsQuestionBack() {
    open(settings -> settings);
    Pending lonely = send(decode, leg(1, ROOM));
    prefill.awaitCount("waiting", 1);
    lonely.run(lonely.call::cancel);
    prefill.awaitCount("open", 0);
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(decode.count("failed")).isZero();

    Pending first = send(prefill, leg(1, ROOM));
    TestEngine.ok(send(decode, leg(1, ROOM)).await());
    TestEngine.ok(first.await());
  }

  @Test
  void theLastOfSeveralPrefillLegsHasTheRoom() {
    open(settings -> settings);
    Pending first = send(prefill, leg(1, ROOM));
    prefill.awaitCount("pinned_blocks", 5);
    Pending second = send(prefill, leg(1, ROOM));
    assertThat(first.await().status()).isEqualTo(500);
    prefill.awaitCount("pinned_blocks", 5);
    assertThat(second.reply).isNotDone();
    TestEngine.ok(send(decode, leg(1, ROOM)).await());
    TestEngine.ok(second.await());
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(1);
  }

  @Test
  void aRepeatedPrefillLegDoesNotLoseItsRoomToTheFirst() {
    open(settings -> settings);
    for (int i = 0; i < 5; i++) {
      ObjectNode longer = leg(1, ROOM);
      longer.set("prompt", TestEngine.prompt(30, 1, 6).get("prompt"));
      Pending left = send(prefill, longer);
      prefill.awaitCount("pinned_blocks", 8);
      Pending repeated = send(prefill, leg(1, ROOM));
      left.run(left.call::cancel);
      prefill.awaitCount("pinned_blocks", 5); // those of the second leg
      TestEngine.ok(send(decode, leg(1, ROOM)).await());
      TestEngine.ok(repeated.await());
    }
    prefill.awaitIdle();
    decode.awaitIdle();
    assertThat(prefill.count("sent")).isEqualTo(5);
  }

  @Test
  void aDecodeThatDiesEndsItsPrefill() {
    open(settings -> settings.link(TestEngine.link(10)));
    Pending first = send(prefill, leg(1, ROOM));
    send(decode, leg(1, ROOM));
    prefill.awaitCount("running", 1);
    decode.close();
    Reply reply = first.await();
    assertThat(reply.status()).isEqualTo(500);
    assertThat(reply.json().at("/error/message").asText()).contains("is gone");
    prefill.awaitIdle();
  }
}
