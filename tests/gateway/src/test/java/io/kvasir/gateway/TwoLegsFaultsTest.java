package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of one leg of a request, and clients that leave: no other request is hurt. */
class TwoLegsFaultsTest {

  private static final String REQUEST =
      "POST "
          + CHAT
          + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
          + ASK.length()
          + "\r\n\r\n"
          + ASK;
  private static final String PREFILLED =
      "{\"id\":\"x\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
          + "{\"role\":\"assistant\",\"content\":\"H\"},\"finish_reason\":\"length\"}],"
          + "\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_engine_id\":\"e\","
          + "\"remote_host\":\"h\",\"remote_port\":5600,\"remote_request_id\":\"r1\"}}";

  private final List<ScriptedEngine> engines = new ArrayList<>();

  @AfterEach
  void closeEngines() {
    engines.forEach(ScriptedEngine::close);
  }

  private ScriptedEngine engine(ScriptedEngine.Script script) {
    ScriptedEngine engine = ScriptedEngine.start(script);
    engines.add(engine);
    return engine;
  }

  private static String prefill(ScriptedEngine engine) {
    return "http://" + engine.name() + ",role=prefill";
  }

  private static String decode(ScriptedEngine engine) {
    return "http://" + engine.name() + ",role=decode";
  }

  private static void assertIdle(TestGateway gateway) {
    Await.until(
        "nothing is booked and no request is in flight",
        () ->
            gateway.gateway().fleets().workers().stream()
                    .allMatch(worker -> worker.membership().activeRequests() == 0)
                && gateway.gateway().fleets().all().stream().allMatch(TwoLegsFaultsTest::isIdle));
  }

  private static boolean isIdle(ModelFleet fleet) {
    PredictedLoads loads = new PredictedLoads();
    fleet.loads(loads);
    for (int i = 0; i < loads.size(); i++) {
      if (loads.activeRequests(i) != 0 || loads.activeBlocks(i) != 0) {
        return false;
      }
    }
    return true;
  }

  @Test
  void anotherDecodeWorkerTakesTheTransferOver() {
    ScriptedEngine prefill = engine((request, link) -> link.json(200, PREFILLED));
    ScriptedEngine bad = engine((request, link) -> link.close());
    ScriptedEngine good = engine(EngineLink::answer);
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill), decode(bad), decode(good))).start()) {
      int requests = 0;
      while (bad.received() == 0) {
        assertThat(gateway.post(CHAT, ASK, "X-Session-ID: " + requests).status()).isEqualTo(200);
        requests++;
      }
      assertThat(prefill.received()).isEqualTo(requests);
      assertThat(bad.next().json().path("kv_transfer_params"))
          .isEqualTo(good.next().json().path("kv_transfer_params"));
      assertIdle(gateway);
    }
  }

  @Test
  void legsThatFollowOneAnotherAreOneAttempt() {
    ScriptedEngine prefill = engine((request, link) -> link.close());
    ScriptedEngine decode = engine(EngineLink::answer);
    for (int most = 1; most <= 2; most++) {
      int before = prefill.received();
      try (TestGateway gateway =
          TestGateway.of(List.of(prefill(prefill), decode(decode))).maxAttempts(most).start()) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(most == 1 ? 502 : 200);
        assertThat(prefill.received() - before).isEqualTo(1);
        assertIdle(gateway);
      }
    }
  }

  /** Such an answer is read apart from the event loop. */
  @Test
  void aLargeAnswerIsHandedOver() {
    String ids = "[" + "1,".repeat(200_000) + "1]";
    ScriptedEngine prefill =
        engine(
            (request, link) ->
                link.json(200, PREFILLED.replace("\"r1\"", "\"r1\",\"remote_block_ids\":" + ids)));
    ScriptedEngine decode = engine(EngineLink::answer);
    try (TestGateway gateway = TestGateway.of(List.of(prefill(prefill), decode(decode))).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(decode.next().json().path("kv_transfer_params").path("remote_block_ids"))
          .hasSize(200_001);
      assertIdle(gateway);
    }
  }

  @Test
  void trtllmsContextIsComputedAgainForAnotherGenerationServer() {
    String context =
        PREFILLED.replace(
            "\"finish_reason\"",
            "\"disaggregated_params\":{\"ctx_request_id\":1,\"disagg_request_id\":2},\"finish_reason\"");
    ScriptedEngine prefill = engine((request, link) -> link.json(200, context));
    ScriptedEngine bad = engine((request, link) -> link.close());
    ScriptedEngine good = engine(EngineLink::answer);
    String flavor = ",flavor=trtllm";
    try (TestGateway gateway =
        TestGateway.of(
                List.of(prefill(prefill) + flavor, decode(bad) + flavor, decode(good) + flavor))
            .start()) {
      int requests = 0;
      while (bad.received() == 0) {
        assertThat(gateway.post(CHAT, ASK, "X-Session-ID: " + requests).status()).isEqualTo(200);
        requests++;
      }
      assertThat(prefill.received()).isEqualTo(requests + 1);
      assertIdle(gateway);
    }
  }

  @Test
  void aClientThatLeavesEndsThePrefillLeg() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    ScriptedEngine prefill =
        engine(
            (request, link) -> {
              link.awaitGone();
              gone.countDown();
            });
    ScriptedEngine decode = engine(EngineLink::answer);
    try (TestGateway gateway = TestGateway.of(List.of(prefill(prefill), decode(decode))).start()) {
      try (RawClient client = RawClient.to(gateway.gateway().port())) {
        client.send(REQUEST);
        prefill.next();
      }
      Await.opened("the end of the prefill leg", gone);
      assertIdle(gateway);
      assertThat(decode.received()).isZero();
    }
  }

  @Test
  void aClientThatLeavesEndsBothLegs() throws Exception {
    CountDownLatch gone = new CountDownLatch(2);
    ScriptedEngine.Script waits =
        (request, link) -> {
          link.awaitGone();
          gone.countDown();
        };
    ScriptedEngine prefill = engine(waits);
    ScriptedEngine decode = engine(waits);
    String flavor = ",flavor=sglang";
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill) + flavor, decode(decode) + flavor)).start()) {
      try (RawClient client = RawClient.to(gateway.gateway().port())) {
        client.send(REQUEST);
        prefill.next();
        decode.next();
      }
      Await.opened("the end of both legs", gone);
      assertIdle(gateway);
    }
  }

  @Test
  void aPrefillLegGoesOnWhenItsDecodeLegHasEnded() throws Exception {
    CountDownLatch served = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    ScriptedEngine prefill =
        engine(
            (request, link) -> {
              Await.opened("the answer to the client", served);
              link.json(200, PREFILLED);
              answered.countDown();
            });
    ScriptedEngine decode = engine(EngineLink::answer);
    String flavor = ",flavor=sglang";
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill) + flavor, decode(decode) + flavor)).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(gateway.gateway().fleets().workers().get(0).membership().activeRequests())
          .isEqualTo(1);
      served.countDown();
      Await.opened("the answer of the prefill worker", answered);
      assertIdle(gateway);
    }
  }

  @Test
  void aRequestThatAPrefillWorkerRefusesIsTheClients() {
    ScriptedEngine prefill = engine((request, link) -> link.json(400, "{\"error\":\"too long\"}"));
    ScriptedEngine decode = engine((request, link) -> link.awaitGone());
    for (String flavor : List.of("", ",flavor=sglang")) {
      try (TestGateway gateway =
          TestGateway.of(List.of(prefill(prefill) + flavor, decode(decode) + flavor)).start()) {
        RawClient.Reply reply = gateway.post(CHAT, ASK);
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text()).contains("too long");
        assertIdle(gateway);
      }
    }
  }

  @Test
  void aWorkerWithoutARoleServesWhatNoDecodeWorkerTakes() {
    ScriptedEngine prefill = engine((request, link) -> link.json(200, PREFILLED));
    ScriptedEngine dead = engine((request, link) -> link.close());
    ScriptedEngine whole = engine(EngineLink::answer);
    String both = "http://" + whole.name();
    try (TestGateway gateway = TestGateway.of(List.of(prefill(prefill), both)).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(prefill.received()).isZero();
      assertIdle(gateway);
    }
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill), decode(dead), both)).start()) {
      while (dead.received() == 0) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      }
      assertThat(whole.next().json().has("kv_transfer_params")).isFalse();
      assertIdle(gateway);
    }
  }

  @Test
  void aTransferThatFailsBeginsAtAnotherPrefillWorker() {
    List<ScriptedEngine> prefills = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      prefills.add(engine((request, link) -> link.json(200, PREFILLED)));
    }
    AtomicBoolean failed = new AtomicBoolean();
    ScriptedEngine decode =
        engine(
            (request, link) -> {
              if (failed.getAndSet(true)) {
                EngineLink.answer(request, link);
              } else {
                link.json(500, "{\"error\":\"KVTransferError\"}");
              }
            });
    String flavor = ",flavor=sglang";
    try (TestGateway gateway =
        TestGateway.of(
                List.of(
                    prefill(prefills.get(0)) + flavor,
                    prefill(prefills.get(1)) + flavor,
                    decode(decode) + flavor))
            .start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      Await.until(
          "each prefill worker has had the prompt once",
          () -> prefills.stream().allMatch(each -> each.received() == 1));
      assertThat(decode.received()).isEqualTo(2);
      assertIdle(gateway);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"choices\":[]}",
        "{\"choices\":[{\"finish_reason\":\"length\"}],\"kv_transfer_params\":{}}",
        "{\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_engine_id\":null,"
            + "\"remote_host\":\"h\",\"remote_port\":1}}",
        "{\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_engine_id\":\"e\","
            + "\"remote_host\":\"h\",\"remote_port\":1,\"remote_request_id\":null}}",
      })
  void aTransferWithoutAnAddressIsNotHandedOver(String nonsense) {
    List<String> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(prefill(engine((request, link) -> link.json(200, nonsense))));
    }
    ScriptedEngine decode = engine(EngineLink::answer);
    workers.add(decode(decode));
    try (TestGateway gateway = TestGateway.of(workers).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(decode.next().json().has("kv_transfer_params")).isFalse();
      assertThat(gateway.metrics())
          .contains("kvasir_local_prefills_total{reason=\"prefill_failed\"} 1");
      assertIdle(gateway);
    }
  }

  /** The engine has freed the blocks of an answer that its first token ends. */
  @Test
  void anAnswerThatEndsWithItsFirstTokenIsDecodesAlone() {
    String ended = "{\"choices\":[{\"finish_reason\":\"stop\"}],\"kv_transfer_params\":null}";
    ScriptedEngine prefill = engine((request, link) -> link.json(200, ended));
    ScriptedEngine decode = engine(EngineLink::answer);
    try (TestGateway gateway = TestGateway.of(List.of(prefill(prefill), decode(decode))).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(prefill.received()).isEqualTo(1);
      assertThat(gateway.metrics())
          .contains("kvasir_local_prefills_total{reason=\"prefill_ended\"} 1")
          .doesNotContain("kvasir_retries_total{");
      assertIdle(gateway);
    }
  }
}
