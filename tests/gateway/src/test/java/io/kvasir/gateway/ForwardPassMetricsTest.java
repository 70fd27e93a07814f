package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Gateways in front of an engine whose ranks report their steps. */
class ForwardPassMetricsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int RANKS = 2;

  private EngineServer server;
  private int port;

  @BeforeEach
  void start() throws IOException {
    EventSettings reporting =
        new EventSettings(
            EngineFlavor.VLLM,
            EventForm.NONE,
            EventSettings.newestReplay(EngineFlavor.VLLM),
            EventSettings.numbers(EngineFlavor.VLLM),
            "127.0.0.1",
            0,
            0,
            "",
            0,
            false);
    EmbeddedSettings settings = EmbeddedSettings.builder("m").ranks(RANKS).speed(100).build();
    EmbeddedEngine engine = EmbeddedEngine.open(settings, RankPools.Place.HOST, reporting);
    port = engine.steps().orElseThrow().port();
    server = EngineServer.start(engine, "127.0.0.1", 0, 1);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private TestGateway gateway(String router, String endpoints) {
    String worker = "http://127.0.0.1:" + server.port() + ",ranks=" + RANKS;
    return TestGateway.of(List.of(worker + endpoints)).router(router).start();
  }

  private String endpoint(int rank) {
    return ",forward_pass_metrics=tcp://127.0.0.1:" + (port + rank);
  }

  private static JsonNode ranks(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).get(0).get("ranks");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Sends requests until each rank has a count of reported steps above 0. */
  private static void awaitCounts(TestGateway gateway, String count) {
    Await.until(
        count + " of both ranks",
        () -> {
          for (int rank = 0; rank < RANKS; rank++) {
            String body = "{\"model\":\"m\",\"prompt\":\"some words\",\"max_tokens\":4}";
            String named = "X-data-parallel-rank: " + rank;
            try (RawClient client = RawClient.to(gateway.gateway().port())) {
              client.send(RawClient.post("/v1/completions", body, named)).reply();
            }
          }
          JsonNode ranks = ranks(gateway);
          return ranks.get(0).path(count).asLong() > 0 && ranks.get(1).path(count).asLong() > 0;
        });
  }

  @Test
  void theStepsOfEachRankArrive() {
    try (TestGateway gateway = gateway("projected", endpoint(0))) {
      awaitCounts(gateway, "forward_passes");
      assertThat(ranks(gateway).get(0).get("forward_passes_skipped").asLong()).isZero();
      assertThat(gateway.admin("/metrics").text())
          .containsPattern("kvasir_forward_passes_total\\{worker_id=.*,dp_rank=\"1\"} [1-9]")
          .containsPattern("kvasir_forward_passes_skipped_total\\{worker_id=.*,dp_rank=\"1\"} 0");
    }
  }

  @Test
  void stepsAtTheEndpointOfAnotherRankAreIgnored() {
    try (TestGateway gateway = gateway("projected", endpoint(1) + endpoint(0))) {
      awaitCounts(gateway, "forward_passes_skipped");
      assertThat(ranks(gateway).get(0).get("forward_passes").asLong()).isZero();
    }
  }

  @Test
  void routersWithoutAModelOfTimeAskForNone() {
    try (TestGateway gateway = gateway("cost", endpoint(0))) {
      assertThat(ranks(gateway).get(0).has("forward_passes")).isFalse();
    }
  }
}
