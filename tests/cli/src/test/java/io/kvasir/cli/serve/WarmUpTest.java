package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the requests that a gateway makes before its public port opens leave behind: a line. */
@Tag("process")
class WarmUpTest {

  @Test
  void requestsOfTheWarmUpAreServedAndLeaveNothing() throws Exception {
    try (ServingProcess engine = ServingProcess.engine("--ranks", "2");
        ServingProcess gateway =
            ServingProcess.gateway(
                List.of(engine.url()), "--warm-up-seconds", "1", "--access-log", "-")) {
      assertThat(gateway.output())
          .containsPattern("kvasir: warmed up by [1-9][0-9]* requests of its own")
          .doesNotContain("model warm-up")
          .doesNotContain("\"path\"");
      assertThat(gateway.metric("kvasir_requests_total")).isZero();
      assertThat(ServingProcess.get(gateway.adminUrl() + "/kvasir/decisions").body())
          .doesNotContain("warm-up");
      assertThat(ServingProcess.get(gateway.url() + "/v1/models").body())
          .contains("\"kvasir\"")
          .doesNotContain("warm-up");
      assertThat(
              ServingProcess.HTTP
                  .send(gateway.chat(""), HttpResponse.BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void whatTheWarmUpComputesIsNotInTheIndexOfBlockEvents() throws Exception {
    try (FleetEngine engine = FleetEngine.withPool("model", "vllm", 100, "--events", "map");
        ServingProcess gateway =
            ServingProcess.gateway(List.of(engine.worker()), "--warm-up-seconds", "1")) {
      assertThat(gateway.output())
          .containsPattern("kvasir: warmed up by [1-9][0-9]* requests of its own");
      assertThat(gateway.metric("kvasir_kv_events_batches_total")).isZero();
      assertThat(gateway.metric("kvasir_kv_blocks")).isZero();
    }
  }
}
