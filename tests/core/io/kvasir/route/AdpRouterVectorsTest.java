package io.kvasir.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankState;
import io.kvasir.model.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The public conformance vectors of {@code tests/vectors/adp-routers.json}. */
class AdpRouterVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OPTION = "kv_cache_routing_";

  private static JsonNode vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    return JSON.readTree(root.resolve("tests/vectors/adp-routers.json").toFile());
  }

  @TestFactory
  Stream<DynamicTest> softTargets() throws IOException {
    return elements(vectors().get("softTarget"))
        .map(
            vector ->
                dynamicTest(
                    vector.toString(),
                    () ->
                        assertThat(
                                softTarget(
                                    JSON.convertValue(vector.get("activeRequests"), int[].class),
                                    vector.get("newRequests").intValue(),
                                    vector.get("multiplier").doubleValue(),
                                    vector.get("maxActiveRequests").asInt(Integer.MAX_VALUE)))
                            .isEqualTo(vector.get("expected").intValue())));
  }

  private static int softTarget(
      int[] activeRequests, int newRequests, double multiplier, int maxActiveRequests) {
    List<RankState> states = new ArrayList<>();
    for (int active : activeRequests) {
      states.add(new RankState(states.size(), active, 0));
    }
    RankLoads loads = new RankLoads(activeRequests.length);
    loads.begin(states);
    return loads.softTarget(newRequests, multiplier, maxActiveRequests);
  }

  @TestFactory
  Stream<DynamicTest> shuffles() throws IOException {
    return elements(vectors().get("shuffle"))
        .map(
            vector ->
                dynamicTest(
                    "Random(" + vector.get("seed") + ") over " + vector.get("size"),
                    () -> {
                      int size = vector.get("size").intValue();
                      int[] order =
                          new CPythonShuffle(size).shuffle(vector.get("seed").longValue(), size);
                      assertThat(order)
                          .containsExactly(JSON.convertValue(vector.get("order"), int[].class));
                    }));
  }

  @TestFactory
  Stream<DynamicTest> decisions() throws IOException {
    return elements(vectors().get("cases"))
        .map(
            vector ->
                dynamicTest(
                    vector.get("id").textValue() + " " + vector.path("note").asText(""),
                    () -> replay(vector)));
  }

  private static void replay(JsonNode vector) {
    JsonNode configuration = vector.get("configure");
    int ranks = configuration.get("ranks").intValue();
    AdpRouter router =
        AdpRouterKind.named(configuration.get("router").textValue())
            .create(ranks, options(configuration.get("attention_dp_config")), true);
    for (JsonNode step : vector.get("steps")) {
      JsonNode route = step.get("route");
      List<Request> requests = elements(route.get("requests")).map(v -> request(v)).toList();
      Assignment assignment =
          router.route(
              elements(route.get("states")).map(v -> state(v)).toList(),
              requests,
              matches(route.path("matches"), requests, ranks),
              configuration.get("maxActiveRequests").intValue());
      check(assignment, step.get("expected"));
      if (router instanceof KvCacheAwareAdpRouter cacheAware) {
        assertThat(cacheAware.warmupPending().stream().toArray())
            .containsExactly(
                JSON.convertValue(step.get("expected").get("pendingWarmup"), int[].class));
      }
    }
  }

  private static void check(Assignment assignment, JsonNode expected) {
    Map<String, List<Long>> assigned = new LinkedHashMap<>();
    for (int rank = 0; rank < assignment.ranks(); rank++) {
      assigned.put(
          Integer.toString(rank), assignment.assignedTo(rank).stream().map(Request::id).toList());
    }
    Map<String, String> reasons = new LinkedHashMap<>();
    for (Decision decision : assignment.decisions()) {
      reasons.put(Long.toString(decision.request().id()), decision.reason().id());
    }
    JsonNode actual =
        JSON.createObjectNode()
            .putPOJO("assigned", assigned)
            .put("expectedActiveRequests", assignment.expectedActiveRequests())
            .putPOJO("unassigned", assignment.unassigned().stream().map(Request::id).toList())
            .putPOJO("activeTokensAfter", assignment.activeTokensAfter())
            .putPOJO("reasons", reasons);
    JsonNode comparable = JSON.valueToTree(JSON.convertValue(actual, Object.class));
    for (String field : fields(comparable)) {
      assertThat(comparable.get(field).toString())
          .as(field)
          .isEqualTo(expected.get(field).toString());
    }
    if (expected.has("scores")) {
      Decision last = assignment.decisions().get(assignment.decisions().size() - 1);
      Map<String, Double> scores = new LinkedHashMap<>();
      for (int i = 0; i < last.scores().length; i++) {
        scores.put(Integer.toString(last.scoredRanks()[i]), last.scores()[i]);
      }
      assertThat(JSON.<JsonNode>valueToTree(scores)).isEqualTo(expected.get("scores"));
    }
  }

  private static KvCacheRoutingOptions options(JsonNode block) {
    KvCacheRoutingOptions defaults = KvCacheRoutingOptions.DEFAULT;
    List<String> known =
        Stream.of(
                "load_balance_weight",
                "match_rate_threshold",
                "fair_share_multiplier",
                "cold_start_warmup")
            .map(OPTION::concat)
            .toList();
    assertThat(known).containsAll(fields(block));
    return new KvCacheRoutingOptions(
        block.path(known.get(0)).asDouble(defaults.loadBalanceWeight()),
        block.path(known.get(1)).asDouble(defaults.matchRateThreshold()),
        block.path(known.get(2)).asDouble(defaults.fairShareMultiplier()),
        block.path(known.get(3)).asBoolean(defaults.coldStartWarmup()));
  }

  private static RankState state(JsonNode state) {
    return new RankState(
        state.get("rank").intValue(),
        state.get("activeRequests").intValue(),
        state.get("activeTokens").longValue());
  }

  private static Request request(JsonNode request) {
    int[] tokens =
        request.has("inputTokens")
            ? JSON.convertValue(request.get("inputTokens"), int[].class)
            : new int[request.get("inputLength").intValue()];
    return Request.builder(request.get("id").longValue(), tokens)
        .targetRank(request.path("targetRank").asInt(Request.ANY_RANK))
        .relax(request.path("relax").asBoolean(true))
        .build();
  }

  private static PrefixMatches matches(JsonNode tables, List<Request> requests, int ranks) {
    if (tables.isMissingNode()) {
      return PrefixMatches.NONE;
    }
    assertThat(tables.size()).isLessThanOrEqualTo(ranks);
    PrefixMatches matches = new PrefixMatches(tables.size(), requests.size());
    for (int rank = 0; rank < tables.size(); rank++) {
      for (int i = 0; i < requests.size(); i++) {
        matches.set(rank, i, tables.get(rank).path(Long.toString(requests.get(i).id())).asInt(0));
      }
    }
    return matches;
  }

  private static List<String> fields(JsonNode object) {
    List<String> fields = new ArrayList<>();
    object.fieldNames().forEachRemaining(fields::add);
    return fields;
  }

  private static Stream<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }
}
