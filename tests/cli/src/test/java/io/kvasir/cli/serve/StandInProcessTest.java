package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code kvasir engine --flavor}, as a process. */
@Tag("process")
@Tag("jdk")
class StandInProcessTest {

  private static final Pattern PORTS =
      Pattern.compile("2 ranks, .*, events from port (\\d+), replay from (\\d+)");

  @Test
  void aStandInPrintsItsPortsAndEndsByASignal() throws Exception {
    try (ServingProcess engine =
        ServingProcess.engine(
            "--flavor",
            "sglang",
            "--dp",
            "2",
            "--events",
            "mixed",
            "--topic",
            "kv",
            "--events-port",
            "0",
            "--replay-port",
            "0")) {
      Matcher ports = PORTS.matcher(engine.output());
      assertThat(ports.find()).as(engine.output()).isTrue();
      JsonNode info = json(engine, "/server_info");
      assertThat(info.at("/kv_events/endpoint_port_base").asText()).isEqualTo(ports.group(1));
      assertThat(info.at("/kv_events/endpoint_host").asText()).isEqualTo("*");
      assertThat(info.path("dp_size").asInt()).isEqualTo(2);
      assertThat(json(engine, "/debug/blocks").path("ranks")).hasSize(2);
      engine.terminate();
      assertThat(engine.exitCode()).isZero();
    }
  }

  @Test
  void enginesWithRolesAnswerARequestTogether() throws Exception {
    String own = " --flavor sglang --transfer-bandwidth 100 --bootstrap-port 0";
    try (ServingProcess prefill =
            ServingProcess.engine(("--role prefill" + own).strip().split(" ", -1));
        ServingProcess decode =
            ServingProcess.engine(("--role decode" + own).strip().split(" ", -1))) {
      JsonNode info = json(prefill, "/server_info");
      assertThat(info.path("disaggregation_mode").asText()).isEqualTo("prefill");
      int port = info.path("disaggregation_bootstrap_port").asInt();
      assertThat(prefill.output()).contains(", prefill over bootstrap, KV from port " + port);
      String leg =
          "{\"prompt\":\"a prompt that is longer than a block of 32 tokens\",\"max_tokens\":3,"
              + "\"bootstrap_host\":\"127.0.0.1\",\"bootstrap_room\":9,\"bootstrap_port\":"
              + port
              + "}";
      CompletableFuture<HttpResponse<String>> first =
          ServingProcess.HTTP.sendAsync(post(prefill, leg), BodyHandlers.ofString());
      HttpResponse<String> answer =
          ServingProcess.HTTP.send(post(decode, leg), BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(Await.result("prefill", first).statusCode()).isEqualTo(200);
      assertThat(json(prefill, "/debug/transfers").path("sent").asInt()).isEqualTo(1);
      assertThat(json(decode, "/debug/transfers").path("received").asInt()).isEqualTo(1);
    }
  }

  private static HttpRequest post(ServingProcess engine, String body) {
    return HttpRequest.newBuilder(URI.create(engine.url() + "/v1/completions"))
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  @Test
  void aGatewaySaysWhetherItFollowsBlockEvents() throws Exception {
    String ports = "--events-port 0 --replay-port 0";
    try (ServingProcess engine =
            ServingProcess.engine(("--flavor sglang --events map " + ports).split(" ", -1));
        ServingProcess assumed = ServingProcess.gateway(List.of(engine.url()));
        ServingProcess following =
            ServingProcess.gateway(List.of(engine.url() + ",flavor=sglang"))) {
      assertThat(assumed.output())
          .contains("kvasir: workers      1 over HTTP\n")
          .contains(
              "fleet router affinity, block events: not followed (no worker has events= or"
                  + " poll=true)\n");
      assertThat(following.output())
          .contains("fleet router projected, block events: followed (1 of 1 workers)\n");
    }
  }

  @Test
  void anEngineWithoutFlavorHasNoDebugging() throws Exception {
    try (ServingProcess engine = ServingProcess.engine("--ranks", "1")) {
      assertThat(ServingProcess.get(engine.url() + "/debug/blocks").statusCode()).isEqualTo(404);
      assertThat(json(engine, "/server_info").path("tokens_per_block").asInt()).isEqualTo(32);
    }
  }

  private static JsonNode json(ServingProcess engine, String path) throws Exception {
    return new ObjectMapper().readTree(ServingProcess.get(engine.url() + path).body());
  }
}
