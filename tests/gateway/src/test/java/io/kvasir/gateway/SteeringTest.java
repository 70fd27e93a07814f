package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.worker.LoadBalancing;
import io.kvasir.gateway.worker.WorkerProfile;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway learns of its engines, and how requests name their ranks because of it. */
class SteeringTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String INPUT = "{\"model\":\"m\",\"input\":\"Hi\"}";
  private static final String HEADER = "x-data-parallel-rank";

  private static TestGateway gateway(ScriptedEngine engine, String more) {
    return TestGateway.of(List.of("http://" + engine.name() + more)).start();
  }

  private static WorkerProfile profile(TestGateway gateway) {
    return gateway.gateway().fleets().workers().get(0).profile();
  }

  private static Set<String> ranks(TestGateway gateway, ScriptedEngine engine, int requests) {
    Set<String> ranks = new HashSet<>();
    for (int i = 0; i < requests; i++) {
      assertThat(gateway.post(CHAT, ASK, "X-Session-ID: s" + i).status()).isEqualTo(200);
      ranks.add(String.valueOf(engine.next().field(HEADER)));
    }
    return ranks;
  }

  @Test
  void theRanksOfAnEngineAreItsOwn() {
    try (ScriptedEngine engine =
            ScriptedEngine.good()
                .fact("/version", "{\"version\":\"0.30.0\"}")
                .fact(
                    "/metrics",
                    """
                    vllm:cache_config_info{block_size="16",engine="0"} 1
                    vllm:cache_config_info{block_size="16",engine="1"} 1
                    """);
        TestGateway gateway = gateway(engine, "")) {
      assertThat(profile(gateway).ranks()).isEqualTo(2);
      assertThat(profile(gateway).blockSize()).isEqualTo(16);
      assertThat(ranks(gateway, engine, 6)).containsExactlyInAnyOrder("0", "1");
    }
  }

  /** Events of the second node carry the ranks 4 to 7; its requests name 0 to 3. */
  @Test
  void hybridNodesTakeLocalRanks() {
    StringBuilder metrics = new StringBuilder();
    for (int rank = 4; rank < 8; rank++) {
      metrics.append("vllm:num_requests_running{engine=\"").append(rank).append("\"} 0\n");
    }
    try (ScriptedEngine engine = ScriptedEngine.good().fact("/metrics", metrics.toString());
        TestGateway gateway = gateway(engine, ",events=tcp://e:5557")) {
      WorkerProfile profile = profile(gateway);
      assertThat(profile.balancing()).isEqualTo(LoadBalancing.HYBRID);
      assertThat(profile.rankOffset()).isEqualTo(4);
      assertThat(profile.events().live(0)).isEqualTo("tcp://e:5561");
      assertThat(ranks(gateway, engine, 12)).containsExactlyInAnyOrder("0", "1", "2", "3");
    }
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine, ",lb=hybrid,ranks=2,rank_offset=2")) {
      assertThat(ranks(gateway, engine, 6)).containsExactlyInAnyOrder("0", "1");
    }
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine, ",lb=internal,ranks=2,rank_offset=2")) {
      assertThat(ranks(gateway, engine, 6)).containsExactlyInAnyOrder("2", "3");
    }
  }

  @Test
  void withExternalBalancingRequestsNameNoRank() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine, ",lb=external,rank_offset=3")) {
      assertThat(ranks(gateway, engine, 3)).containsExactly("null");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0.5.22, /v1/chat/completions, true, routed_dp_rank",
    "0.5.22, /v1/completions, true, routed_dp_rank",
    "0.5.22, /v1/messages, true, ",
    "0.5.22, /v1/responses, true, routed_dp_rank",
    "0.5.19, /v1/responses, false, ",
    "0.5.8, /v1/chat/completions, false, data_parallel_rank",
    "0.5.8, /v1/messages, false, ",
  })
  void sglangIsSteeredByVersionAndEndpoint(
      String version, String path, boolean header, String field) throws IOException {
    String info = "{\"version\":\"" + version + "\",\"dp_size\":2}";
    try (ScriptedEngine engine = ScriptedEngine.good().fact("/server_info", info);
        TestGateway gateway = gateway(engine, ",flavor=sglang")) {
      String body =
          path.endsWith("responses")
              ? INPUT
              : path.equals("/v1/completions") ? INPUT.replace("input", "prompt") : ASK;
      String forged = body.replaceFirst("\\{", "{\"routed_dp_rank\":9,\"data_parallel_rank\":9,");
      Reply reply = gateway.post(path, forged, "X-Data-Parallel-Rank: 9");
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      Received request = engine.next();
      JsonNode sent = JSON.readTree(request.body());
      String rank = reply.field("x-kvasir-dp-rank");
      boolean steered = header || field != null;
      assertThat(rank).matches(steered ? "0|1" : "any");
      assertThat(request.field(HEADER)).isEqualTo(header ? rank : null);
      for (String each : List.of("routed_dp_rank", "data_parallel_rank")) {
        assertThat(sent.has(each)).isEqualTo(each.equals(field));
        assertThat(sent.path(each).asText()).isEqualTo(each.equals(field) ? rank : "");
      }
    }
  }

  @Test
  void aRequestToTensorRtLlmNamesNoRank() {
    String chat = ASK.replaceFirst("\\{", "{\"conversation_params\":{\"conversation_id\":\"c\"},");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine, ",flavor=trtllm,ranks=4,events=tcp://e:5557")) {
      assertThat(profile(gateway).events().ranks()).isEqualTo(4);
      assertThat(gateway.gateway().fleets().workers().get(0).routedRanks()).isEqualTo(4);
      assertThat(gateway.post(CHAT, chat).field("x-kvasir-dp-rank")).isEqualTo("any");
      Received request = engine.next();
      assertThat(request.text()).isEqualTo(chat);
      assertThat(request.field(HEADER)).isNull();
      assertThat(engine.questions())
          .containsExactlyInAnyOrder("/version", "/server_info", "/prometheus/metrics");
    }
  }

  @Test
  void anEngineThatComesBackIsAskedAgain() {
    String metric = "vllm:num_requests_running{engine=\"%d\"} 0\n";
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name())).healthEveryMs(10).start()) {
      assertThat(ranks(gateway, engine, 2)).containsExactly("null");
      engine.fact("/metrics", metric.formatted(0) + metric.formatted(1));
      engine.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      engine.healthy(true);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      assertThat(profile(gateway).ranks()).isEqualTo(2);
      assertThat(ranks(gateway, engine, 6)).containsExactlyInAnyOrder("0", "1");
      engine.fact("/metrics", metric.formatted(0));
      engine.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      engine.healthy(true);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      assertThat(ranks(gateway, engine, 3)).containsExactly("null");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"500", "503", "429", ScriptedEngine.CUT})
  void aWorkerIsUnhealthyUntilItsEngineAnswersAllQuestions(String failure) {
    String metrics =
        """
        vllm:cache_config_info{block_size="16",engine="0"} 1
        vllm:cache_config_info{block_size="16",engine="1"} 1
        """;
    try (ScriptedEngine engine = ScriptedEngine.good().fact("/metrics", failure);
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name())).healthEveryMs(10).start()) {
      assertThat(gateway.metric("kvasir_worker_healthy")).isZero();
      assertThat(gateway.gateway().fleets().fleets()).isEmpty();
      engine.fact("/metrics", metrics);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      ModelFleet fleet = gateway.gateway().fleets().fleet("m");
      assertThat(fleet.tokensPerBlock()).isEqualTo(16);

      engine.fact("/metrics", failure);
      engine.healthy(false);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 0);
      engine.healthy(true);
      for (int i = 0; i < 2; i++) { // the second time shows that the first did not suffice
        engine.questions().clear();
        Await.until("a question", () -> engine.questions().contains("/metrics"));
      }
      assertThat(gateway.metric("kvasir_worker_healthy")).isZero();
      assertThat(profile(gateway).ranks()).isEqualTo(2);
      engine.fact("/metrics", metrics);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 1);
      assertThat(ranks(gateway, engine, 6)).containsExactlyInAnyOrder("0", "1");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "vllm, /metrics, 404",
    "vllm, /metrics, 405",
    "vllm, /version, 501",
    "sglang, /get_server_info, 500",
  })
  void aQuestionThatAnEngineNeedNotAnswerKeepsNoWorkerAway(
      String flavor, String question, String status) {
    try (ScriptedEngine engine =
            ScriptedEngine.good().fact("/server_info", "{\"dp_size\":2}").fact(question, status);
        TestGateway gateway = gateway(engine, ",flavor=" + flavor)) {
      gateway.works();
    }
  }

  @Test
  void answersWithoutSenseLeaveTheWorkerHealthy() {
    try (ScriptedEngine engine =
            ScriptedEngine.good()
                .fact("/version", "[".repeat(5_000))
                .fact("/metrics", "vllm:cache_config_info{".repeat(5_000));
        TestGateway gateway = gateway(engine, "")) {
      gateway.works();
      assertThat(profile(gateway).version()).isNull();
      assertThat(profile(gateway).blockSize()).isZero();
    }
  }
}
