package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The metrics of workers that come and go. */
class GatewayMetricsTest {

  private static final int RANKS = 8;

  @Test
  void aWorkerThatComesAgainHasItsMetricsWhateverItsLastRequestsDid() {
    GatewayMetrics metrics = new GatewayMetrics();
    for (int i = 0; i < 50; i++) {
      AtomicBoolean over = new AtomicBoolean();
      CompletableFuture<Void> requests =
          CompletableFuture.runAsync(
              () -> {
                while (!over.get()) {
                  record(metrics);
                }
              });
      metrics.forgetWorker("w");
      over.set(true);
      Await.result("the last requests", requests);
      record(metrics);
      String page = metrics.scrape();
      for (int rank = 0; rank < RANKS; rank++) {
        assertThat(page).contains("kvasir_generation_tokens_total{dp_rank=\"" + rank + "\"");
      }
      assertThat(page).contains("kvasir_leg_seconds_count{role=\"decode\",worker_id=\"w\"}");
    }
  }

  private static void record(GatewayMetrics metrics) {
    for (int rank = 0; rank < RANKS; rank++) {
      metrics.target("m", "w", rank).onServed(1, 1, 1, 1, 1);
    }
    metrics.onLeg("decode", "w", 1);
  }
}
