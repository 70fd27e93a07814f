package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
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

/** The public conformance vectors of the ADP routers, and ours in the same form. */
class AdpRouterVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static JsonNode vectors() throws IOException {
    return vectors("adp-routers.json");
  }

  private static JsonNode vectors(String file) throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    return JSON.readTree(root.resolve("tests/vectors").resolve(file).toFile());
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
  Stream<DynamicTest> clampedConstructors() throws IOException {
    return elements(vectors("adp-conversation.json").get("clamped"))
        .map(
            vector ->
                dynamicTest(
                    vector.toString(),
                    () -> {
                      ConversationAdpRouter router =
                          new ConversationAdpRouter(
                              2,
                              vector.get("multiplier").doubleValue(),
                              vector.get("maxSessions").intValue(),
                              NewConversationPlacement.orRoundRobin(
                                  JSON.convertValue(vector.get("placement"), Object.class)),
                              null);
                      JsonNode expected = vector.get("expected");
                      assertThat(router.fairShareMultiplier())
                          .isEqualTo(expected.get("multiplier").doubleValue());
                      assertThat(router.maxSessions())
                          .isEqualTo(expected.get("maxSessions").intValue());
                      assertThat(router.placement().id())
                          .isEqualTo(expected.get("placement").textValue());
                    }));
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
    return Stream.concat(
            elements(vectors().get("cases")),
            elements(vectors("adp-conversation.json").get("cases")))
        .map(
            vector ->
                dynamicTest(
                    vector.get("id").textValue() + " " + vector.path("note").asText(""),
                    () -> replay(vector)));
  }

  private static void replay(JsonNode vector) throws IOException {
    JsonNode configuration = vector.get("configure");
    int ranks = configuration.get("ranks").intValue();
    AdpRouter router =
        AdpRouterKind.named(configuration.get("router").textValue())
            .create(
                ranks,
                AttentionDpConfig.of(
                    JSON.convertValue(
                        configuration.get("attention_dp_config"),
                        new TypeReference<Map<String, Object>>() {})),
                demand(configuration),
                true);
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
                JSON.convertValue(step.get("expected").path("pendingWarmup"), int[].class));
      }
      if (router instanceof ConversationAdpRouter conversations) {
        assertThat(JSON.writeValueAsString(conversations.bindings()))
            .isEqualTo(step.get("expected").get("bindings").toString());
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

  private static BlockDemand demand(JsonNode configuration) {
    return configuration.has("tokensPerBlock")
        ? new BlockDemand(configuration.get("tokensPerBlock").intValue(), true)
        : null;
  }

  private static RankState state(JsonNode state) {
    RankState load =
        new RankState(
            state.get("rank").intValue(),
            state.get("activeRequests").intValue(),
            state.path("activeTokens").asLong(0));
    if (!state.has("freeBlocks")) {
      return load;
    }
    long free = state.get("freeBlocks").longValue();
    long cached = state.path("cachedBlocks").asLong(0);
    return load.withOccupancy(
        state.path("queuedBlocks").asLong(0),
        new Occupancy(
            free + cached, free, cached, 0, state.path("reservedBlocks").asLong(0), 0, 0, 0));
  }

  private static Request request(JsonNode request) {
    int[] tokens =
        request.has("inputTokens")
            ? JSON.convertValue(request.get("inputTokens"), int[].class)
            : new int[request.get("inputLength").intValue()];
    return Request.builder(request.get("id").longValue(), tokens)
        .targetRank(request.path("targetRank").asInt(Request.ANY_RANK))
        .relax(request.hasNonNull("relax") ? request.get("relax").booleanValue() : null)
        .conversationId(request.path("conversationId").asText(null))
        .firstTurn(request.path("firstTurn").asBoolean(false))
        .children(request.path("children").asInt(0))
        .maxNewTokens(request.path("maxNewTokens").asInt(1))
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
