package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class AdpBalanceTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode file = JSON.readTree(root.resolve("tests/vectors/adp-balance.json").toFile());
    return StreamSupport.stream(file.get("cases").spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> replay(vector)));
  }

  private static void replay(JsonNode vector) {
    AdpBalance balance =
        new AdpBalance(
            vector.get("maxBatchSize").intValue(),
            vector.get("timeoutIters").intValue(),
            vector.get("batchingWaitIters").intValue(),
            vector.path("minGenerationRequests").asInt(0),
            vector.path("lowOccupancyTimeoutIters").asInt(0));
    List<Boolean> held = new ArrayList<>();
    for (JsonNode iteration : vector.get("iterations")) {
      List<AdpBalance.Scheduled> ranks = new ArrayList<>();
      for (int rank = 0; rank < iteration.get("context").size(); rank++) {
        ranks.add(
            new AdpBalance.Scheduled(
                iteration.get("context").get(rank).intValue(),
                iteration.get("generation").get(rank).intValue(),
                iteration.get("real").get(rank).intValue()));
      }
      held.add(balance.hold(ranks));
    }
    if (vector.has("runs")) {
      assertThat(held.stream().filter(hold -> !hold).count())
          .isEqualTo(vector.get("runs").longValue());
    } else {
      assertThat(JSON.<JsonNode>valueToTree(held)).isEqualTo(vector.get("hold"));
    }
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    refused(() -> new AdpBalance(0, 50, 10, 0, 0), "maxBatchSize must be at least 1, not 0");
    refused(() -> new AdpBalance(8, -1, 10, 0, 0), "timeout_iters must be at least 0");
    refused(() -> new AdpBalance(8, 50, -1, 0, 0), "batching_wait_iters must be at least 0");
    refused(
        () -> new AdpBalance(8, 50, 10, 9, 0),
        "TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS must be within 0 to 8, not 9");
    refused(
        () -> new AdpBalance(8, 50, 10, 0, 51),
        "TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS must be within 0 to 50, not 51");
  }

  private static void refused(Runnable construction, String message) {
    assertThatThrownBy(construction::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }
}
