package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.testing.harness.Await;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are large, or have many elements. */
class LargeBodiesTest {

  private static final String COMPLETIONS = "/v1/completions";

  private final ScriptedEngine engine = ScriptedEngine.good();

  @AfterEach
  void stop() {
    engine.close();
  }

  private static String list(String field, String unit, int times) {
    return "{\"model\":\"m\",\"" + field + "\":[" + (unit + ",").repeat(times - 1) + unit + "]}";
  }

  @ParameterizedTest
  @CsvSource({
    "prompt,'\"\"',/v1/completions",
    "messages,{},/v1/chat/completions",
    "messages,'{\"content\":[\"\",\"\"]}',/v1/chat/completions",
    "input,'\"\"',/v1/responses",
    "input,'\"\"',/v1/embeddings"
  })
  void elementsBeyondTheirBoundAre400(String field, String unit, String path) {
    try (TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post(path, list(field, unit, 300_000));
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.code()).isEqualTo("invalid_request");
      assertThat(reply.param()).isEqualTo(field);
      assertThat(reply.message()).contains(field, "262144");
      assertThat(engine.received()).isZero();
      gateway.works();
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "cache_salt,'\"',x",
    "model,'\"',x",
    "previous_response_id,'\"',x",
    "prompt_cache_key,'\"',x",
    "user,'\"',x",
    "max_tokens,'',1",
    "priority,'',1"
  })
  void scalarMembersOfMegabytesAre400(String field, String quote, String unit) {
    try (TestGateway gateway = TestGateway.of(engine).start()) {
      String value = quote + unit.repeat(4 << 20) + quote;
      Reply reply =
          gateway.post(COMPLETIONS, "{\"prompt\":\"Hi\",\"" + field + "\":" + value + "}");
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.param()).isEqualTo(field);
      assertThat(reply.message()).contains(field, quote.isEmpty() ? "64 bytes" : "8192 bytes");
      assertThat(engine.received()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "conversation",
        "round_robin",
        "load_balancing",
        "kv_cache_aware",
        "cost",
        "projected"
      })
  void everyRouterPlacesLargePromptsAndGivesBackWhatTheyHold(String router) {
    try (TestGateway gateway = TestGateway.of(engine).router(router).start()) {
      String text = "a\\n\\u00e9\u00e9 b".repeat(100_000);
      List<String> bodies =
          List.of(
              ASK.replace("Hi", text),
              "{\"model\":\"m\",\"prompt\":\"" + text + "\"}",
              list("prompt", "\"some text\"", 100_000),
              list("prompt", "7", 1_000_000),
              list("prompt", "[1,2,3]", 100_000));
      for (String body : bodies) {
        String path = body.contains("messages") ? CHAT : COMPLETIONS;
        Reply reply = gateway.post(path, body);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        Received received = engine.next();
        while (!received.target().equals(path)) {
          received = engine.next(); // a question for tokens
        }
        assertThat(received.text().equals(body)).isTrue();
        Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      }
      assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
      assertThat(gateway.metric("kvasir_worker_requests_running")).isZero();
    }
  }

  @Test
  void largeBodiesAreReadBesideTheEventLoops() {
    try (TestGateway gateway = TestGateway.of(engine).eventLoops(1).start()) {
      assertThat(gateway.post(CHAT, ASK.replace("Hi", "x".repeat(400_000))).status())
          .isEqualTo(200);
      assertThat(Thread.getAllStackTraces().keySet())
          .anyMatch(thread -> thread.getName().equals("kvasir-bodies"));
    }
  }

  @Test
  void aClientThatLeavesWhileItsBodyIsReadLeavesNothing() {
    CountDownLatch go = new CountDownLatch(1);
    engine.script(
        (request, link) -> {
          Await.opened("the signal to go on", go);
          EngineLink.answer(request, link);
        });
    byte[] request = RawClient.post(CHAT, ASK.replace("Hi", "é ".repeat(1 << 20)));
    try (TestGateway gateway = TestGateway.of(engine).eventLoops(1).start()) {
      for (int i = 0; i < 6; i++) {
        RawClient client = gateway.client();
        client.send(request).disconnect();
      }
      go.countDown();
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      Await.until(() -> gateway.metric("kvasir_worker_requests_running") == 0);
      gateway.works();
    }
  }

  @Test
  void aDecodedPromptNeedsRoomInTheBudget() {
    // Tokens of 6 MB: their body fits, and what is decoded of them does not.
    try (TestGateway gateway = TestGateway.of(engine).router("cost").bodyBudget(8 << 20).start()) {
      Reply reply = gateway.post(COMPLETIONS, list("prompt", "7", 3_000_000));
      assertThat(reply.status()).as(reply.text()).isEqualTo(413);
      assertThat(reply.code()).isEqualTo("body_too_large");
      assertThat(reply.message()).contains("8388608 bytes");
      assertThat(reply.field("retry-after")).as("it never fits").isNull();
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      gateway.works();
    }
  }

  @Test
  void anExplanationNeedsRoomInTheBudgetToo() {
    try (TestGateway gateway = TestGateway.of(engine).router("cost").bodyBudget(8 << 20).start();
        RawClient admin = RawClient.to(gateway.gateway().adminPort())) {
      String path = "/kvasir/explain";
      Reply large = admin.send(RawClient.post(path, list("prompt", "7", 3_000_000))).reply();
      assertThat(large.status()).as(large.text()).isEqualTo(413);
      assertThat(large.code()).isEqualTo("body_too_large");
      Reply small = admin.send(RawClient.post(path, list("prompt", "7", 300_000))).reply();
      assertThat(small.status()).as(small.text()).isEqualTo(200);
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
    }
  }

  @Test
  void aPlaceThatComesAfterItsClientHasLeftIsGivenBack() {
    CountDownLatch routes = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    HookedPolicy.outcome =
        outcome -> {
          routes.countDown();
          Await.opened("the signal to go on", go);
          return new RouteOutcome.Waiting(CompletableFuture.completedFuture(outcome));
        };
    HookedPolicy.FINISHED.set(0);
    try (TestGateway gateway = TestGateway.of(engine).router(HookedPolicy.NAME).start()) {
      RawClient client = gateway.client();
      client.send(RawClient.post(CHAT, ASK.replace("Hi", "x".repeat(400_000))));
      Await.opened("the routing begins", routes);
      client.disconnect();
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      go.countDown();
      Await.until("the booking's end", () -> HookedPolicy.FINISHED.get() == 1);
      gateway.works();
      Await.until(() -> HookedPolicy.FINISHED.get() == 2);
    } finally {
      go.countDown();
      HookedPolicy.outcome = UnaryOperator.identity();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void evidenceOfLargePromptsIsTakenBesideTheEventLoops(boolean waits) {
    if (waits) {
      HookedPolicy.outcome =
          outcome -> new RouteOutcome.Waiting(CompletableFuture.completedFuture(outcome));
    }
    HookedPolicy.MATCHERS.clear();
    String worker = "http://" + engine.name() + ",ranks=1,events=tcp://127.0.0.1:1";
    try (TestGateway gateway = TestGateway.of(List.of(worker)).router(HookedPolicy.NAME).start()) {
      Reply reply = gateway.post(COMPLETIONS, list("prompt", "7", 400_000));
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(HookedPolicy.MATCHERS).containsOnly("kvasir-bodies");
    } finally {
      HookedPolicy.outcome = UnaryOperator.identity();
    }
  }
}
