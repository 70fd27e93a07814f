package io.kvasir.fleet.router.booking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostPick;
import io.kvasir.fleet.router.cost.CostSelector;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The vectors of costs, choices, busy ranks and queue keys. */
class CostVectorsTest {

  private static final int DRAWS = 40_000;

  @TestFactory
  Stream<DynamicTest> costs() throws IOException {
    return each(
        "costs",
        vector -> {
          Candidates candidates =
              new GivenCandidates(
                  vector.get("candidates"),
                  vector.get("tokensPerBlock").intValue(),
                  vector.path("tracksPrefill").asBoolean(true));
          FleetRequest request =
              RouterFixture.request(7, vector.get("inputTokens").intValue())
                  .overrides(overrides(vector.path("overrides")))
                  .build();
          double[] costs = new double[candidates.size()];
          int chosen =
              new CostSelector(options(vector.get("options")))
                  .select(candidates, request, (i, name, value) -> costs[i] += value)
                  .position();
          assertThat(costs)
              .containsExactly(
                  new ObjectMapper().convertValue(vector.get("costs"), double[].class),
                  within(1e-12));
          if (!vector.get("chosen").isNull()) {
            assertThat(chosen).isEqualTo(vector.get("chosen").intValue());
          }
        });
  }

  private static CostOptions options(JsonNode given) {
    CostOptions options =
        new CostOptions(
            given.path("overlapScoreCredit").asDouble(1),
            given.path("overlapScoreCreditDecay").asDouble(0),
            given.path("prefillLoadScale").asDouble(1),
            given.path("activeRequestWeight").asDouble(0),
            0,
            given.path("trackActiveBlocks").asBoolean(true));
    return given.has("overlapScoreWeight")
        ? options.withOverlapScoreWeight(given.get("overlapScoreWeight").doubleValue())
        : options;
  }

  private static CostOverrides overrides(JsonNode given) {
    return new CostOverrides(
        orNull(given, "overlapScoreCredit"), orNull(given, "prefillLoadScale"), null, null, null);
  }

  private static Double orNull(JsonNode given, String field) {
    return given.has(field) ? Double.valueOf(given.get(field).doubleValue()) : null;
  }

  @TestFactory
  Stream<DynamicTest> softmaxes() throws IOException {
    return each(
        "softmax",
        vector -> {
          int candidates = vector.get("costs").size();
          int[] drawn = new int[candidates];
          for (int id = 0; id < DRAWS; id++) {
            CostPick pick = new CostPick(candidates, id);
            vector.get("costs").forEach(cost -> pick.add(cost.doubleValue()));
            drawn[pick.softmax(vector.get("temperature").doubleValue())]++;
          }
          for (int i = 0; i < candidates; i++) {
            double p = vector.get("probabilities").get(i).doubleValue();
            double deviation = Math.sqrt(p * (1 - p) / DRAWS);
            assertThat(drawn[i] / (double) DRAWS).isCloseTo(p, within(4 * deviation));
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> busyRanks() throws IOException {
    return each(
        "busy",
        vector -> {
          JsonNode given = vector.get("thresholds");
          BusyThresholds thresholds =
              new BusyThresholds(
                  orNull(given, "activeDecodeBlocksThreshold"),
                  given.has("activePrefillTokensThreshold")
                      ? Long.valueOf(given.get("activePrefillTokensThreshold").longValue())
                      : null,
                  orNull(given, "activePrefillTokensThresholdFrac"));
          assertThat(
                  thresholds.exceededBy(
                      vector.path("activePrefillTokens").asLong(),
                      vector.path("activeBlocks").asLong(),
                      capacity(vector)))
              .isEqualTo(vector.get("busy").booleanValue());
        });
  }

  @TestFactory
  Stream<DynamicTest> room() throws IOException {
    return each(
        "room",
        vector ->
            assertThat(
                    QueueOptions.of(orNull(vector, "queueThreshold"), QueuePolicy.FCFS)
                        .hasRoom(vector.get("activePrefillTokens").longValue(), capacity(vector)))
                .isEqualTo(vector.get("room").booleanValue()));
  }

  private static RankCapacity capacity(JsonNode vector) {
    return new RankCapacity(
        vector.path("totalKvBlocks").asLong(), vector.path("maxNumBatchedTokens").asLong());
  }

  @TestFactory
  Stream<DynamicTest> queueKeys() throws IOException {
    return each(
        "queueKeys",
        vector ->
            assertThat(
                    QueuePolicy.named(vector.get("policy").textValue())
                        .key(
                            vector.get("priorityJump").doubleValue(),
                            vector.get("arrivalSeconds").doubleValue(),
                            vector.get("uncachedTokens").longValue(),
                            Double.POSITIVE_INFINITY))
                .isEqualTo(vector.get("key").doubleValue(), within(1e-12)));
  }

  private static Stream<DynamicTest> each(String kind, Consumer<JsonNode> check)
      throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode vectors =
        new ObjectMapper().readTree(root.resolve("tests/vectors/selection.json").toFile());
    return StreamSupport.stream(vectors.get(kind).spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> check.accept(vector)));
  }
}
