package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The gateway says for each endpoint how exactly it routes, and why not better. */
class RoutingExactnessTest {

  private static final String MODEL = StandInServer.MODEL;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int REQUESTS = 10;
  private static final String WORDS =
      "one two three four five six seven eight nine ten ".repeat(20);

  private static JsonNode worker(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).path(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode endpoint(TestGateway gateway, String name) {
    for (JsonNode endpoint : worker(gateway).path("endpoints")) {
      if (endpoint.get("endpoint").asText().equals(name)) {
        return endpoint;
      }
    }
    throw new AssertionError("nothing is known of " + name);
  }

  private static TestGateway live(StandInServer engine, String router) {
    TestGateway gateway = TestGateway.of(List.of(engine.worker())).router(router).start();
    Await.until("live ranks", () -> worker(gateway).at("/ranks/0/state").asText().equals("live"));
    return gateway;
  }

  private static void chat(TestGateway gateway, int number) {
    String body =
        "{\"model\":\"%s\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"%d %s\"}]}";
    assertThat(gateway.post("/v1/chat/completions", body.formatted(MODEL, number, WORDS)).status())
        .isEqualTo(200);
  }

  private static void agent(TestGateway gateway, int number) {
    String body =
        "{\"model\":\"%s\",\"max_tokens\":4,\"tools\":[{\"name\":\"t\",\"input_schema\":{}}],"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"%d %s\"}]}";
    assertThat(gateway.post("/v1/messages", body.formatted(MODEL, number, WORDS)).status())
        .isEqualTo(200);
  }

  private static String labels(String endpoint) {
    return "{model=\"" + MODEL + "\",endpoint=\"" + endpoint + "\"";
  }

  @Test
  void agentsWithoutARendererAreRoutedByLoadAlone() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 2);
        TestGateway gateway = live(engine, "cost")) {
      for (int i = 0; i < REQUESTS; i++) {
        agent(gateway, i);
        chat(gateway, i);
      }
      JsonNode messages = endpoint(gateway, "messages");
      assertThat(messages.get("exactness").asText()).isEqualTo("load_only");
      assertThat(messages.get("cause").asText()).isEqualTo("render_404");
      assertThat(messages.get("prompts_without").asInt()).isEqualTo(REQUESTS);
      JsonNode chats = endpoint(gateway, "chat_completions");
      assertThat(chats.get("exactness").asText()).isEqualTo("exact");
      assertThat(chats.get("prompts_with_tokens").asInt()).isEqualTo(REQUESTS);
      assertThat(worker(gateway).get("exactness").asText()).isEqualTo("exact");

      assertThat(gateway.metrics())
          .contains(
              "kvasir_routing_exactness" + labels("messages") + "} 0.0",
              "kvasir_routing_exactness" + labels("chat_completions") + "} 1.0",
              "kvasir_routing_inexact_cause" + labels("messages") + ",cause=\"render_404\"} 1",
              "kvasir_placed_prompts_total" + labels("messages") + ",tokens=\"estimated\"} 10");
      assertThat(gateway.admin("/ready?verbose").text())
          .isEqualTo(
              "ready\n%s chat_completions exact\n%s messages load_only: render_404\n"
                  .formatted(MODEL, MODEL));
      assertThat(gateway.admin("/ready").text()).isEqualTo("ready\n");
    }
  }

  @Test
  void anEndpointThatAnOptionAddsIsFoundWithoutARestart() {
    AtomicBoolean renders = new AtomicBoolean();
    AtomicInteger questions = new AtomicInteger();
    ScriptedEngine.Script script =
        (request, link) -> {
          if (!request.target().endsWith("/render")) {
            EngineLink.answer(request, link);
          } else {
            questions.incrementAndGet();
            link.json(renders.get() ? 200 : 404, "{\"token_ids\":[1,2,3]}");
          }
        };
    String agent = "{\"model\":\"m\",\"max_tokens\":4,\"tools\":[{}],\"messages\":[]}";
    try (ScriptedEngine engine = ScriptedEngine.start(script);
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name())).router("approximate").start()) {
      for (int i = 0; i < REQUESTS; i++) {
        renders.set(i > 0);
        gateway.post("/v1/messages", agent);
      }
      assertThat(questions).hasValue(1);
      assertThat(endpoint(gateway, "messages").get("cause").asText()).isEqualTo("render_404");
      gateway.pass(TimeUnit.MINUTES.toMillis(3));
      for (int i = 0; i < REQUESTS * REQUESTS; i++) {
        gateway.post("/v1/messages", agent);
      }
      assertThat(questions).hasValue(2);
      assertThat(endpoint(gateway, "messages").get("prompts_with_tokens").asInt())
          .isEqualTo(REQUESTS * REQUESTS);
      assertThat(endpoint(gateway, "messages").path("cause").asText()).isNotEqualTo("render_404");
    }
  }

  @Test
  void aRestartThatEventsShowBeginsAnewWithTokens() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway =
            TestGateway.of(List.of(engine.worker())).router("cost").healthEveryMs(20).start()) {
      FleetWorker worker = gateway.gateway().fleets().workers().get(0);
      for (int restarts = 1; restarts <= 2; restarts++) {
        long before = worker.lives();
        double batches = gateway.metric("kvasir_kv_events_batches_total");
        chat(gateway, 1);
        chat(gateway, 2);
        Await.until(
            "events of both", () -> gateway.metric("kvasir_kv_events_batches_total") > batches + 1);
        engine.faults("{'restart':true}");
        chat(gateway, 3);
        Await.until("another life", () -> worker.lives() > before);
      }
      assertThat(worker.recoveries()).isEqualTo(1);
    }
  }

  @Test
  void withoutEventsTheCacheIsGuessed() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway = TestGateway.of(List.of(engine.url())).router("cost").start()) {
      chat(gateway, 1);
      JsonNode chats = endpoint(gateway, "chat_completions");
      assertThat(chats.get("exactness").asText()).isEqualTo("approximate");
      assertThat(chats.get("cause").asText()).isEqualTo("no_events");
    }
  }

  @Test
  void aPolicyWithoutPrefixesIsNamed() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway =
            TestGateway.of(List.of(engine.worker())).router("round_robin").start()) {
      chat(gateway, 1);
      JsonNode chats = endpoint(gateway, "chat_completions");
      assertThat(chats.get("exactness").asText()).isEqualTo("load_only");
      assertThat(chats.get("cause").asText()).isEqualTo("policy");
    }
  }

  @Test
  void blocksOfAnotherSizeAreNamed() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway =
            TestGateway.of(List.of(engine.worker() + ",block_size=" + 2 * StandInServer.BLOCK))
                .router("cost")
                .start()) {
      for (int i = 0; i < REQUESTS; i++) {
        chat(gateway, i);
      }
      Await.until(
          "the cause",
          () ->
              endpoint(gateway, "chat_completions")
                  .path("cause")
                  .asText()
                  .equals("block_size_mismatch"));
      assertThat(gateway.metrics())
          .contains("kvasir_routing_exactness" + labels("chat_completions") + "} 0.0");
    }
  }

  @Test
  void aNonceInEverySystemPromptIsNamed() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway = live(engine, "cost")) {
      String body =
          "{\"model\":\"%s\",\"max_tokens\":4,\"messages\":[{\"role\":\"system\",\"content\":"
              + "\"You help. Request %d. %s\"},{\"role\":\"user\",\"content\":\"%d\"}]}";
      for (int i = 0; i < 20; i++) {
        assertThat(worker(gateway).path("prefix_break").isMissingNode()).isEqualTo(i < 9);
        int id = 7_000_000 + 7919 * i;
        gateway.post("/v1/chat/completions", body.formatted(MODEL, id, WORDS, i));
      }
      JsonNode found = worker(gateway).path("prefix_break");
      assertThat(found.path("token").asInt()).isBetween(5, 60);
      assertThat(found.path("prompts").asInt()).isEqualTo(19);
      assertThat(found.path("of").asInt()).isEqualTo(20);
      assertThat(gateway.metric("kvasir_prefix_breaks_total")).isEqualTo(19);
      assertThat(gateway.metric("kvasir_prefix_break_tokens_total")).isGreaterThan(19 * 64);
      assertThat(gateway.metric("kvasir_prefix_break_position"))
          .isEqualTo(found.path("token").asDouble());
    }
  }

  @Test
  void ranksThatRequestsCannotNameAreNamed() {
    try (StandInServer engine = StandInServer.rendering(2);
        TestGateway gateway = live(engine, "cost")) {
      String body = "{\"model\":\"%s\",\"max_output_tokens\":16,\"store\":false,\"input\":\"%s\"}";
      gateway.post("/v1/responses", body.formatted(MODEL, WORDS));
      JsonNode responses = endpoint(gateway, "responses");
      assertThat(responses.get("exactness").asText()).isEqualTo("approximate");
      assertThat(responses.get("cause").asText()).isEqualTo("rank_unnamed");
    }
  }
}
