package io.kvasir.engine.lockstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.execute.RankLedger;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The conformance vectors of {@code tests/vectors/adp-rank-state.json}. */
class RankStateVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static Stream<JsonNode> vectors(String list) throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode file = JSON.readTree(root.resolve("tests/vectors/adp-rank-state.json").toFile());
    return StreamSupport.stream(file.get(list).spliterator(), false);
  }

  @TestFactory
  Stream<DynamicTest> gather() throws IOException {
    return vectors("gather")
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> checkGather(vector)));
  }

  private static void checkGather(JsonNode vector) {
    RankLedger ledger = new RankLedger(vector.get("rank").intValue());
    for (JsonNode request : vector.get("requests")) {
      book(ledger, request);
    }
    JsonNode expected = vector.get("expected");
    RankState state = ledger.state(LoadMetric.valueOf(vector.get("metric").textValue()), null);
    assertThat(state.rank()).isEqualTo(vector.get("rank").intValue());
    assertThat(state.activeRequests()).isEqualTo(expected.get("activeRequests").intValue());
    assertThat(state.activeTokens()).isEqualTo(expected.get("activeTokens").longValue());
    assertThat(state.retiringRequests()).isEqualTo(expected.get("retiringRequests").intValue());
    assertThat(state.liveRequests()).isEqualTo(expected.get("liveRequests").intValue());
  }

  private static void book(RankLedger ledger, JsonNode request) {
    int tokens = request.get("tokens").intValue();
    int cached = Math.min(request.path("cached").asInt(0), tokens);
    int sequences = 1 + request.path("children").asInt(0);
    ledger.add(tokens, sequences);
    ledger.setCached(0, cached);
    switch (request.path("then").asText("stay")) {
      case "retire" -> ledger.retire(tokens, cached, sequences);
      case "transfer" -> ledger.startTransfer(tokens, cached, sequences);
      default -> {}
    }
  }

  @Test
  void whatLeavesTakesAllItsNumbersWithIt() {
    RankLedger ledger = new RankLedger(0);
    RankState empty = ledger.state(LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS, null);
    ledger.add(100, 3);
    ledger.setCached(0, 40);
    ledger.retire(100, 40, 3);
    ledger.forgetRetiring(3);
    ledger.add(70, 1);
    ledger.queueBlocks(9);
    ledger.queueBlocks(-9);
    ledger.startTransfer(70, 0, 1);
    ledger.endTransfer(70, 0, 1);
    assertThat(ledger.state(LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS, null))
        .isEqualTo(empty);
  }

  @Test
  void statisticsThatAreMissingChangeNothing() {
    RankState state = new RankState(0, 1, 2);
    assertThat(state.withIterationStats(null)).isSameAs(state);
  }
}
