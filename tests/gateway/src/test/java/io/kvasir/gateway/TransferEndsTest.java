package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When transfers end: workers and gateways that leave wait for them, and old ones begin again. */
class TransferEndsTest {

  private static final String KEY = "operators-only";

  /** An answer of vLLM and of TensorRT-LLM. */
  private static final String PREFILLED =
      "{\"id\":\"x\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
          + "{\"role\":\"assistant\",\"content\":\"H\"},\"finish_reason\":\"length\","
          + "\"disaggregated_params\":{\"ctx_request_id\":1,\"disagg_request_id\":2}}],"
          + "\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_engine_id\":\"e\","
          + "\"remote_host\":\"h\",\"remote_port\":5600,\"remote_request_id\":\"r1\"}}";

  /** Longer than an engine keeps what it has computed for another one. */
  private static final long EXPIRED_MS = 26_000;

  private final List<ScriptedEngine> engines = new ArrayList<>();

  @AfterEach
  void closeEngines() {
    HookedPolicy.outcome = UnaryOperator.identity();
    engines.forEach(ScriptedEngine::close);
  }

  private ScriptedEngine engine(ScriptedEngine.Script script) {
    ScriptedEngine engine = ScriptedEngine.start(script);
    engines.add(engine);
    return engine;
  }

  private static String prefill(ScriptedEngine engine, String keys) {
    return "http://" + engine.name() + ",role=prefill" + keys;
  }

  private static String decode(ScriptedEngine engine, String keys) {
    return "http://" + engine.name() + ",role=decode" + keys;
  }

  private static int active(TestGateway gateway, ScriptedEngine engine) {
    return gateway
        .admin("/kvasir/workers/" + engine.name())
        .json()
        .path("active_requests")
        .asInt(-1);
  }

  private static int booked(TestGateway gateway) {
    PredictedLoads loads = new PredictedLoads();
    gateway.gateway().fleets().prefillFleets().values().forEach(fleet -> fleet.loads(loads));
    int requests = 0;
    for (int i = 0; i < loads.size(); i++) {
      requests += loads.activeRequests(i);
    }
    return requests;
  }

  /** The blocks are read at some time before the answer of the decode worker. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "|",
        ",flavor=trtllm|,flavor=trtllm",
        ",flavor=sglang|,flavor=sglang",
        ",disagg=nixl_push,engine_id=e,ranks=1,side_channel=127.0.0.1:5600,tp_size=1|,disagg=nixl_push",
      })
  void aPrefillWorkerThatGoesHoldsItsBlocksUntilTheAnswer(String prefills, String decodes) {
    String ofPrefill = prefills == null ? "" : prefills;
    String ofDecode = decodes == null ? "" : decodes;
    CountDownLatch go = new CountDownLatch(1);
    ScriptedEngine prefill = engine((request, link) -> link.json(200, PREFILLED));
    ScriptedEngine decode =
        engine(
            (request, link) -> {
              Await.opened("the signal to answer", go);
              EngineLink.answer(request, link);
            });
    try (TestGateway gateway =
            TestGateway.of(List.of(prefill(prefill, ofPrefill), decode(decode, ofDecode)))
                .router("cost")
                .adminKey(KEY)
                .drainMs(Await.limitMs())
                .start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK));
      decode.next();
      Await.until(
          "the answer of the prefill worker",
          () -> gateway.metric("kvasir_leg_seconds_count", "role=\"prefill\"") == 1);
      Await.until("the prompt is no load of the prefill worker", () -> booked(gateway) == 0);
      assertThat(gateway.change("DELETE", "/" + prefill.name(), "", KEY).status()).isEqualTo(200);
      assertThat(active(gateway, prefill)).isEqualTo(1);
      go.countDown();
      assertThat(client.reply().status()).isEqualTo(200);
      Await.until("the prefill worker has gone", () -> active(gateway, prefill) == -1);
    }
  }

  /** Its decode leg has ended, and its own end frees its blocks. */
  @Test
  void aGatewayThatStopsWaitsForPrefillLegs() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    ScriptedEngine prefill =
        engine(
            (request, link) -> {
              Await.opened("the signal to answer", go);
              link.json(200, PREFILLED);
            });
    ScriptedEngine decode = engine(EngineLink::answer);
    String flavor = ",flavor=sglang";
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill, flavor), decode(decode, flavor)))
            .drainMs(Await.limitMs())
            .start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      CompletableFuture<Integer> cut = CompletableFuture.supplyAsync(gateway.gateway()::stop);
      assertThatThrownBy(() -> cut.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      go.countDown();
      assertThat(Await.result("the end of the gateway", cut)).isZero();
    }
  }

  /** The decode worker computes the prompt when no further attempt is allowed. */
  @ParameterizedTest
  @CsvSource({"100,2,3", "2,100,2"})
  void transfersThatExpireInAQueueAreRetries(int attempts, int reserve, int prefills) {
    AtomicReference<TestGateway> running = new AtomicReference<>();
    HookedPolicy.outcome =
        outcome -> {
          running.get().pass(EXPIRED_MS);
          return outcome;
        };
    ScriptedEngine prefill = engine((request, link) -> link.json(200, PREFILLED));
    ScriptedEngine decode = engine(EngineLink::answer);
    DisaggSettings auto = DisaggSettings.DEFAULTS;
    DisaggSettings hooked =
        new DisaggSettings(
            auto.style(),
            -1,
            1,
            null,
            auto.prefillRouter(),
            new RouterChoice(HookedPolicy.NAME, Map.of()),
            Await.limitMs(),
            false,
            false);
    try (TestGateway gateway =
        TestGateway.of(List.of(prefill(prefill, ""), decode(decode, "")))
            .disagg(hooked)
            .maxAttempts(attempts)
            .retryReserve(reserve)
            .start()) {
      running.set(gateway);
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(prefill.received()).isEqualTo(prefills);
      assertThat(decode.next().text()).doesNotContain("kv_transfer_params");
      assertThat(gateway.metric("kvasir_retries_total", "reason=\"transfer_expired\""))
          .isEqualTo(prefills - 1);
      assertThat(gateway.metric("kvasir_local_prefills_total", "reason=\"transfer_expired\""))
          .isEqualTo(1);
    }
  }

  /** Whether decode workers can compute prompts is asked when a worker is chosen. */
  @Test
  void aWorkerThatJoinsServesWhatWaitsForAPrefillWorker() {
    CountDownLatch go = new CountDownLatch(1);
    ScriptedEngine prefill =
        engine(
            (request, link) -> {
              Await.opened("the signal to answer", go);
              link.json(200, PREFILLED);
            });
    ScriptedEngine decode =
        engine(
            (request, link) -> {
              Await.opened("the signal to answer", go);
              EngineLink.answer(request, link);
            });
    ScriptedEngine whole = engine(EngineLink::answer);
    String flavor = ",flavor=sglang";
    try (TestGateway gateway =
            TestGateway.of(List.of(prefill(prefill, flavor), decode(decode, flavor)))
                .queue(1, 10)
                .adminKey(KEY)
                .start();
        RawClient first = gateway.client();
        RawClient second = gateway.client()) {
      first.send(RawClient.post(CHAT, ASK));
      decode.next();
      second.send(RawClient.post(CHAT, ASK));
      Await.until(
          "the second request waits", () -> gateway.metric("kvasir_num_requests_waiting") == 1);
      String added = "{'worker':'http://" + whole.name() + flavor + "'}";
      assertThat(gateway.change("POST", "", added, KEY).status()).isEqualTo(201);
      Await.until(
          "a healthy worker",
          () ->
              gateway.admin("/kvasir/workers/" + whole.name()).json().path("healthy").asBoolean());
      gateway.change("PATCH", "/" + prefill.name(), "{'cordoned':true}", KEY);
      go.countDown();
      assertThat(first.reply().status()).isEqualTo(200);
      RawClient.Reply reply = second.reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(whole.received()).isEqualTo(1);
    }
  }
}
