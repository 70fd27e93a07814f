package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workers that are added, kept from new requests and removed while the gateway serves. */
class FleetChangesTest {

  private static final String KEY = "operators-only";
  private static final int STREAMS = 200;

  private static Reply add(TestGateway gateway, ScriptedEngine engine) {
    return gateway.change("POST", "", "{'worker':'http://" + engine.name() + "'}", KEY);
  }

  private static Reply cordon(TestGateway gateway, ScriptedEngine engine, boolean cordoned) {
    return gateway.change("PATCH", "/" + engine.name(), "{'cordoned':" + cordoned + "}", KEY);
  }

  private static Reply remove(TestGateway gateway, ScriptedEngine engine) {
    return gateway.change("DELETE", "/" + engine.name(), "", KEY);
  }

  private static JsonNode worker(TestGateway gateway, ScriptedEngine engine) {
    return gateway.admin("/kvasir/workers/" + engine.name()).json();
  }

  private static void awaitHealthy(TestGateway gateway, ScriptedEngine engine) {
    Await.until("a healthy worker", () -> worker(gateway, engine).path("healthy").asBoolean());
  }

  @Test
  void aWorkerComesServesAndGoes() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first).adminKey(KEY).start()) {
      assertThat(add(gateway, second).status()).isEqualTo(201);
      awaitHealthy(gateway, second);
      assertThat(cordon(gateway, first, true).json().path("state").asText()).isEqualTo("cordoned");
      int before = first.received();
      for (int i = 0; i < 10; i++) {
        gateway.works();
      }
      assertThat(first.received()).isEqualTo(before);
      assertThat(second.received()).isGreaterThanOrEqualTo(10);
      assertThat(remove(gateway, first).status()).isEqualTo(200);
      Await.until("the first has gone", () -> worker(gateway, first).has("error"));
      gateway.works();
      assertThat(gateway.admin("/kvasir/workers").json()).hasSize(1);
      assertThat(gateway.metrics()).contains(second.name()).doesNotContain(first.name());
    }
  }

  private static int served(TestGateway gateway, ScriptedEngine engine, int requests) {
    int before = engine.received();
    for (int i = 0; i < requests; i++) {
      gateway.works();
    }
    return engine.received() - before;
  }

  @Test
  void aWeightLimitsTheShareOfAWorker() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(first, second).router("load_balancing").adminKey(KEY).start()) {
      assertThat(served(gateway, second, 200)).as("of 200").isGreaterThan(60);
      for (String wrong : new String[] {"0", "1.1", "-1", "'1'", "null"}) {
        assertThat(weigh(gateway, second, wrong).status()).as(wrong).isEqualTo(400);
      }
      assertThat(gateway.change("PATCH", "/" + second.name(), "{}", KEY).status()).isEqualTo(400);
      assertThat(weigh(gateway, second, "0.1").json().path("weight").asDouble()).isEqualTo(0.1);
      assertThat(served(gateway, second, 200)).as("at most 9 %").isBetween(1, 40);
      add(gateway, second);
      assertThat(worker(gateway, second).path("weight").asDouble()).as("as described").isEqualTo(1);
      cordon(gateway, first, true);
      weigh(gateway, second, "0.001");
      assertThat(served(gateway, second, 10)).as("there is no other").isEqualTo(10);
    }
  }

  private static Reply weigh(TestGateway gateway, ScriptedEngine engine, String weight) {
    return gateway.change("PATCH", "/" + engine.name(), "{'weight':" + weight + "}", KEY);
  }

  @Test
  void aWorkerThatGoesEndsItsStreams() throws Exception {
    CountDownLatch removed = new CountDownLatch(1);
    try (ScriptedEngine first =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the removal", removed);
                  link.token(" you");
                  link.endStream();
                });
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first).adminKey(KEY).start()) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        RawClient client = gateway.client();
        clients.add(client);
        client.send(RawClient.post(TestGateway.CHAT, TestGateway.ASK_STREAM));
        assertThat(client.head().status()).isEqualTo(200);
        assertThat(client.event()).contains("Hello");
      }
      add(gateway, second);
      awaitHealthy(gateway, second);
      remove(gateway, first);
      JsonNode leaving = worker(gateway, first);
      assertThat(leaving.path("state").asText()).isEqualTo("leaving");
      assertThat(leaving.path("active_requests").asInt()).isEqualTo(STREAMS);
      gateway.works();
      removed.countDown();
      for (RawClient client : clients) {
        assertThat(client.event()).contains(" you");
        assertThat(client.event()).contains("[DONE]");
        assertThat(client.event()).isNull();
        client.close();
      }
      Await.until("the first has gone", () -> worker(gateway, first).has("error"));
      assertThat(gateway.metric("kvasir_worker_requests_cut")).isZero();
    }
  }

  @Test
  void aWorkerThatGoesHasNoLongerThanADrain() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedEngine first =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the end of the test", over);
                });
        TestGateway gateway = TestGateway.of(first).adminKey(KEY).drainMs(300).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(TestGateway.CHAT, TestGateway.ASK_STREAM));
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(client.event()).contains("Hello");
      remove(gateway, first);
      Await.until("the first has gone", () -> worker(gateway, first).has("error"));
      client.isCut();
      assertThat(gateway.metric("kvasir_worker_requests_cut")).isEqualTo(1);
      assertThat(gateway.post(TestGateway.CHAT, TestGateway.ASK).status()).isEqualTo(503);
      over.countDown();
    }
  }

  private static String replace(TestGateway gateway, String... workers) {
    return gateway
        .gateway()
        .replaceWorkers(Stream.of(workers).map(WorkerSpec::parse).toList(), List.of());
  }

  @Test
  void eventsThatMostWorkersPublishAreFollowedUntilNoneDoes() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        StandInServer events = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway =
            TestGateway.of(first, second)
                .router(GatewaySettings.AUTO)
                .healthEveryMs(20)
                .adminKey(KEY)
                .start()) {
      ModelFleets fleets = gateway.gateway().fleets();
      gateway.works();
      assertThat(fleets.fleet("m").followed()).isNull();
      for (ScriptedEngine engine : List.of(first, second)) {
        String spec = "http://" + engine.name() + events.liveEvents();
        assertThat(gateway.change("POST", "", "{'worker':'" + spec + "'}", KEY).status())
            .isEqualTo(200);
        awaitHealthy(gateway, engine);
      }
      Await.until("followed events", () -> fleets.fleet("m").followed() != null);
      assertThat(fleets.fleet("m").workers()).hasSize(2);
      gateway.works();
      assertThat(add(gateway, first).status()).isEqualTo(200);
      awaitHealthy(gateway, first);
      assertThat(fleets.fleet("m").followed()).as("those of one worker").isNotNull();
      assertThat(add(gateway, second).status()).isEqualTo(200);
      Await.until("no events", () -> fleets.fleet("m").followed() == null);
      awaitHealthy(gateway, second);
      gateway.works();
    }
  }

  @Test
  void theLastWorkersOfAModelGoWhenANewOneIsHealthy() {
    CountDownLatch started = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        ScriptedEngine next = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first, second).start()) {
      next.healthAfter(started);
      assertThat(replace(gateway, "http://" + next.name()))
          .isEqualTo("1 workers come, 2 go, 0 stay");
      gateway.works();
      gateway.works();
      assertThat(next.received()).isZero();
      started.countDown();
      Await.until("the old ones have gone", () -> gateway.gateway().fleets().workers().size() == 1);
      gateway.works();
      assertThat(next.received()).isEqualTo(1);
    }
  }

  @Test
  void aNewWorkerThatNeverAnswersIsAwaitedNoLongerThanADrain() {
    CountDownLatch never = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine next = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first).drainMs(300).start()) {
      next.healthAfter(never);
      replace(gateway, "http://" + next.name());
      gateway.works();
      Await.until("the first has gone", () -> gateway.gateway().fleets().workers().size() == 1);
      never.countDown();
    }
  }

  @Test
  void aWorkerThatIsWantedAgainStays() {
    CountDownLatch never = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine next = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first).start()) {
      next.healthAfter(never);
      replace(gateway, "http://" + next.name());
      assertThat(replace(gateway, "http://" + first.name()))
          .isEqualTo("0 workers come, 1 go, 1 stay");
      never.countDown();
      gateway.works();
      assertThat(first.received()).isEqualTo(1);
    }
  }

  @Test
  void aWorkerThatIsAddedAgainWhileItWaitsToGoStays() {
    CountDownLatch started = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        ScriptedEngine next = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first, second).adminKey(KEY).start()) {
      next.healthAfter(started);
      replace(gateway, "http://" + next.name());
      assertThat(add(gateway, first).status()).isEqualTo(200);
      started.countDown();
      Await.until("the other has gone", () -> gateway.gateway().fleets().workers().size() == 2);
      assertThat(worker(gateway, first).path("state").asText()).isEqualTo("serving");
    }
  }

  @Test
  void onlyTheKeyChangesWorkers() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway open = TestGateway.of(engine).start();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).start()) {
      Reply refused = open.change("DELETE", "/" + engine.name(), "", KEY);
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.message()).contains("--admin-key-file");
      for (String wrong : new String[] {"", "operators-onlz", KEY + "x", "x"}) {
        Reply reply = gateway.change("DELETE", "/" + engine.name(), "", wrong);
        assertThat(reply.status()).isEqualTo(401);
        assertThat(reply.code()).isEqualTo("invalid_api_key");
      }
      assertThat(gateway.admin("/kvasir/workers").json()).hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "POST | | {} | 400 | worker must be a text URL",
        "POST | | [] | 400 | the body must be a JSON object",
        "POST | | nothing | 400 | the body must be JSON",
        "POST | | {'worker':'x'} | 400 | worker is wrong: ",
        "POST | | {'worker':'http://a:1','weight':2} | 400 | one of [cordoned, worker]",
        "POST | | {'worker':'http://a:1','cordoned':1} | 400 | cordoned must be true or false",
        "PUT | /b:1 | {'worker':'http://a:1'} | 400 | the path must end with a:1",
        "PATCH | /b:1 | {} | 400 | cordoned or weight must be given",
        "PATCH | /b:1 | {'weight':0.5} | 404 | there is no worker 'b:1'",
        "PATCH | /b:1 | {'cordoned':true} | 404 | there is no worker 'b:1'",
        "DELETE | /b:1 | | 404 | there is no worker 'b:1'",
        "DELETE | | | 405 | GET or POST",
        "POST | /b:1 | {} | 405 | GET, PUT, PATCH or DELETE",
      })
  void wrongChangesAreRefused(String method, String path, String body, int status, String why) {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).start()) {
      Reply reply = gateway.change(method, path == null ? "" : path, body == null ? "" : body, KEY);
      assertThat(reply.status()).as(reply.text()).isEqualTo(status);
      assertThat(reply.message()).contains(why);
      assertThat(gateway.admin("/kvasir/workers").json()).hasSize(1);
    }
  }
}
