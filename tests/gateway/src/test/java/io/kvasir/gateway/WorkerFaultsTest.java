package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.testing.harness.Await;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which failures keep requests away from a worker, and which are the request's own. */
class WorkerFaultsTest {

  private static final String POISON = ASK.replace("Hi", "poison");
  private static final int MANY = 40;

  private static final BreakerSettings BREAKER =
      new BreakerSettings(3, 50, 60_000, 600_000, 10, 50);

  private static Script poisonedBy(Script poison) {
    return (request, link) -> {
      if (request.text().contains("poison")) {
        poison.answer(request, link);
      } else {
        EngineLink.answer(request, link);
      }
    };
  }

  private static int takers(TestGateway gateway) {
    return gateway.admin("/workers").text().split("\"takes_requests\":true", -1).length - 1;
  }

  private static void workUntilOneRests(TestGateway gateway) {
    Await.until(
        () -> {
          gateway.works(); // what fails at the bad worker is repeated
          return takers(gateway) == 1;
        });
  }

  /** What engines do with a request that they cannot bear. */
  static Stream<Named<Script>> poisons() {
    return Stream.of(
        Named.of("500", (request, link) -> link.json(500, "{\"error\":\"bad grammar\"}")),
        Named.of("a crash", (request, link) -> link.reset()));
  }

  @ParameterizedTest
  @MethodSource("poisons")
  void clientsCannotOpenBreakers(Script poison) {
    try (ScriptedEngine a = ScriptedEngine.start(poisonedBy(poison));
        ScriptedEngine b = ScriptedEngine.start(poisonedBy(poison));
        ScriptedEngine c = ScriptedEngine.start(poisonedBy(poison));
        TestGateway gateway = TestGateway.of(a, b, c).breaker(BREAKER).start()) {
      for (int i = 1; i <= MANY; i++) {
        assertThat(gateway.post(CHAT, POISON).status()).isIn(500, 502);
        assertThat(a.received() + b.received() + c.received()).isEqualTo(2 * i);
      }
      assertThat(takers(gateway)).isEqualTo(3);
      gateway.works();
    }
  }

  @Test
  void withoutRetriesOneWorkerOfTheFleetMayRest() {
    Script poison = (request, link) -> link.json(500, "{}");
    try (ScriptedEngine a = ScriptedEngine.start(poisonedBy(poison));
        ScriptedEngine b = ScriptedEngine.start(poisonedBy(poison));
        ScriptedEngine c = ScriptedEngine.start(poisonedBy(poison));
        TestGateway gateway = TestGateway.of(a, b, c).breaker(BREAKER).retryReserve(0).start()) {
      for (int i = 0; i < MANY; i++) {
        gateway.post(CHAT, POISON);
      }
      assertThat(takers(gateway)).isGreaterThanOrEqualTo(2);
      for (int i = 0; i < 5; i++) {
        gateway.works();
      }
    }
  }

  /** Engines that fail after they have sent the head of a stream. */
  static Stream<Named<Script>> failuresInStreams() {
    return Stream.of(
        Named.of(
            "an error event",
            (request, link) -> {
              link.stream();
              link.event("{\"error\":{\"message\":\"EngineCore\",\"code\":500}}");
              link.endStream();
            }),
        Named.of(
            "an error event after a token",
            (request, link) -> {
              link.stream();
              link.token("a");
              link.event("{\"error\":{\"message\":\"EngineCore\",\"code\":503}}");
              link.endStream();
            }),
        Named.of(
            "death after a token",
            (request, link) -> {
              link.stream();
              link.token("a");
              link.reset();
            }));
  }

  private static void readToTheEnd(RawClient client) {
    try {
      while (client.event() != null) {}
    } catch (UncheckedIOException e) {
      // the stream was cut
    }
  }

  @ParameterizedTest
  @MethodSource("failuresInStreams")
  void aWorkerThatFailsInItsStreamsIsLeft(Script failure) {
    try (ScriptedEngine bad = ScriptedEngine.start(failure);
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(bad, good).router("round_robin").breaker(BREAKER).start()) {
      for (int i = 0; i < MANY; i++) {
        try (RawClient client = gateway.client()) {
          client.send(RawClient.post(CHAT, ASK_STREAM)).head();
          readToTheEnd(client);
        }
        gateway.logLine();
      }
      assertThat(takers(gateway)).isEqualTo(1);
      assertThat(bad.received()).isBetween(3, 7); // half failures need twice as many
      assertThat(gateway.metric("kvasir_stream_errors_total", "worker_id=\"" + bad.name()))
          .isEqualTo(bad.received());
      assertThat(gateway.metric("kvasir_stream_errors_total", good.name())).isZero();
      assertThat(gateway.post(CHAT, ASK_STREAM).text()).contains("you").contains("[DONE]");
    }
  }

  /** The engine's health checks are good all the time. */
  @Test
  void aWorkerThatAnswers500ToEverythingIsNamed() {
    try (ScriptedEngine bad = ScriptedEngine.start((request, link) -> link.json(500, "{}"));
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      int failed = 0;
      for (int i = 0; i < 6; i++) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
        JsonNode line = gateway.logLine();
        assertThat(line.path("worker_id").asText()).isEqualTo(good.name());
        assertThat(line.path("failed_attempts").size())
            .isEqualTo(line.path("attempts").asInt() - 1);
        for (JsonNode failure : line.path("failed_attempts")) {
          failed++;
          assertThat(failure.path("worker_id").asText()).isEqualTo(bad.name());
          assertThat(failure.path("reason").asText()).isEqualTo("status_500");
        }
      }
      assertThat(failed).isEqualTo(bad.received()).isPositive();
      String[] labels = {"worker_id=\"" + bad.name() + "\"", "reason=\"status_500\""};
      assertThat(gateway.metric("kvasir_retries_total", labels)).isEqualTo(failed);
      assertThat(gateway.metric("kvasir_worker_failures_total", labels)).isEqualTo(failed);
      assertThat(gateway.metric("kvasir_worker_failures_total", good.name())).isZero();
    }
  }

  @Test
  void aFailureThatIsNotRepeatedIsNamedToo() {
    try (ScriptedEngine bad = ScriptedEngine.start((request, link) -> link.json(500, "{}"));
        TestGateway gateway = TestGateway.of(bad).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(500);
      assertThat(gateway.logLine().at("/failed_attempts/0/reason").asText())
          .isEqualTo("status_500");
      bad.script((request, link) -> link.reset());
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(502);
      assertThat(gateway.logLine().at("/failed_attempts/0/reason").asText()).isEqualTo("closed");
      bad.script(
          (request, link) -> {
            link.stream();
            link.token("a");
            link.reset();
          });
      try (RawClient client = gateway.client()) {
        client.send(RawClient.post(CHAT, ASK_STREAM)).head();
        readToTheEnd(client);
      }
      assertThat(gateway.logLine().path("failed_attempts").size()).isEqualTo(1);
      assertThat(gateway.metric("kvasir_worker_failures_total", bad.name())).isEqualTo(3);
      assertThat(gateway.metric("kvasir_retries_total")).isZero();
    }
  }

  @Test
  void anErrorEventBeforeAnyOutputIsRetriedUnseen() {
    Script failure =
        (request, link) -> {
          link.stream();
          link.chunk(": ping\n\n");
          link.event("{\"error\":{\"message\":\"EngineCore\",\"code\":500}}");
          link.endStream();
        };
    try (ScriptedEngine bad = ScriptedEngine.start(failure);
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      for (int i = 0; i < 4; i++) {
        Reply reply = gateway.post(CHAT, ASK_STREAM);
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.text()).contains("you").doesNotContain("EngineCore");
        assertThat(gateway.logLine().path("error").asText()).isEmpty();
      }
      assertThat(bad.received()).isPositive();
      assertThat(gateway.metric("kvasir_retries_total", "error_event_500"))
          .isEqualTo(bad.received());
    }
  }

  @Test
  void anErrorEventAboutTheRequestPassesAsItIs() {
    Script refusal =
        (request, link) -> {
          link.stream();
          link.event("{\"error\":{\"message\":\"too long\",\"code\":400}}");
          link.endStream();
        };
    try (ScriptedEngine a = ScriptedEngine.start(refusal);
        ScriptedEngine b = ScriptedEngine.start(refusal);
        TestGateway gateway = TestGateway.of(a, b).breaker(BREAKER).start()) {
      for (int i = 0; i < MANY; i++) {
        Reply reply = gateway.post(CHAT, ASK_STREAM);
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.text()).contains("too long");
      }
      assertThat(a.received() + b.received()).isEqualTo(MANY);
      assertThat(takers(gateway)).isEqualTo(2);
      assertThat(gateway.metric("kvasir_stream_errors_total")).isZero();
    }
  }

  @Test
  void anErrorEventWithoutAnotherWorkerPasses() {
    Script failure =
        (request, link) -> {
          link.stream();
          link.event("{\"error\":{\"message\":\"EngineCore\",\"code\":500}}");
          link.endStream();
        };
    try (ScriptedEngine engine = ScriptedEngine.start(failure);
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post(CHAT, ASK_STREAM);
      assertThat(reply.text()).contains("EngineCore");
      assertThat(gateway.logLine().path("error").asText()).isNotEmpty();
      assertThat(gateway.metric("kvasir_stream_errors_total")).isEqualTo(1);
    }
  }

  @Test
  void aTrialThatIsServedEndsTheRest() {
    try (ScriptedEngine bad = ScriptedEngine.start((request, link) -> link.reset());
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(bad, good).router("round_robin").breaker(BREAKER).start()) {
      workUntilOneRests(gateway);
      bad.script(EngineLink::answer);
      gateway.pass(BREAKER.openMs());
      int before = bad.received();
      Await.until(
          () -> {
            gateway.works();
            return bad.received() > before;
          });
      for (int i = 0; i < 4; i++) {
        gateway.works();
      }
      assertThat(bad.received()).isGreaterThan(before + 1);
      assertThat(takers(gateway)).isEqualTo(2);
    }
  }

  @Test
  void aTrialWhoseClientLeavesProvesNothing() {
    int failures = 20;
    BreakerSettings breaker = new BreakerSettings(failures, 50, 600_000, 300, 10, 50);
    try (ScriptedEngine bad = ScriptedEngine.start((request, link) -> link.reset());
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(bad, good).router("round_robin").breaker(breaker).start()) {
      workUntilOneRests(gateway);
      bad.script(
          (request, link) -> {
            link.stream();
            link.token("a");
            link.awaitGone();
          });
      gateway.pass(breaker.openMs());
      int before = bad.received();
      Await.until(
          () -> {
            try (RawClient client = gateway.client()) {
              client.send(RawClient.post(CHAT, ASK_STREAM)).head();
              client.event();
            }
            return bad.received() > before;
          });
      bad.script((request, link) -> link.reset());
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      gateway.pass(2 * breaker.openMs()); // a trial that streams for so long closes it
      int trials = bad.received();
      Await.until(
          () -> {
            gateway.works();
            return takers(gateway) == 1;
          });
      assertThat(bad.received() - trials).isBetween(1, failures - 1); // it was open all the time
    }
  }

  @Test
  void theOnlyWorkerIsNeverLeft() {
    try (ScriptedEngine engine = ScriptedEngine.start((request, link) -> link.reset());
        TestGateway gateway = TestGateway.of(engine).breaker(BREAKER).start()) {
      for (int i = 0; i < MANY; i++) {
        assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(502);
      }
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void anEngineWhoseRecoveryFailsIsNotHealthy() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(engine).healthEveryMs(20).healthTimeoutMs(500).start()) {
      CountDownLatch busy = new CountDownLatch(1);
      engine.healthAfter(busy);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      gateway.works();
      engine.fact("/version", "500"); // it answers, but badly
      engine.questions().clear();
      busy.countDown();
      Await.until(() -> engine.questions().contains("/version"));
      assertThat(gateway.metric("kvasir_worker_healthy")).isZero();
      gateway.works(); // the last worker is used, not refused
      engine.fact("/version", "404");
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      gateway.works();
    }
  }

  @Test
  void aRequestThatFindsNoEngineAsksForAHealthCheck() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).healthEveryMs(Await.limitMs() * 2).start()) {
      gateway.works();
      (a.received() > 0 ? a : b).kill(); // where the conversation would go on
      Await.until(
          () -> {
            gateway.works(); // what fails at the killed worker is repeated
            return gateway.metric("kvasir_worker_healthy") == 1;
          });
    }
  }

  @Test
  void enginesThatAreTooBusyForHealthChecksKeepServing() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).healthEveryMs(20).healthTimeoutMs(500).start()) {
      CountDownLatch busy = new CountDownLatch(1);
      a.healthAfter(busy);
      b.healthAfter(busy);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      for (int i = 0; i < 4; i++) {
        gateway.works();
      }
      assertThat(gateway.get("/ready").status()).isEqualTo(200);
      busy.countDown();
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 2);
      a.kill();
      b.kill();
      Await.until(() -> gateway.get("/ready").status() == 503);
      Await.until(() -> gateway.post(CHAT, ASK).status() == 503);
    }
  }
}
