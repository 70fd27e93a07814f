package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Gateways in front of stand-ins that publish what their ranks hold. */
class ExactRoutingTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int RANKS = 2;
  private static final int BLOCK = 16;
  private static final long SEED = Long.getLong("kvasir.test.seed", 13);
  private static final int MAX_TOKENS = 8;

  /** An engine, its server, and a gateway in front of it. */
  private static final class Fleet implements AutoCloseable {

    final EngineServer server;
    final TestGateway gateway;

    Fleet(EngineFlavor flavor, EventForm form) throws IOException {
      this(flavor, form, 1e3);
    }

    Fleet(EngineFlavor flavor, EventForm form, double speed) throws IOException {
      EventSettings events =
          new EventSettings(
              flavor,
              form,
              EventSettings.newestReplay(flavor),
              EventSettings.numbers(flavor),
              "127.0.0.1",
              0,
              0,
              "kv-events",
              EventSettings.NO_PORT,
              false);
      EmbeddedSettings settings =
          EmbeddedSettings.builder("m")
              .ranks(RANKS)
              .tokensPerBlock(BLOCK)
              .poolTokens(BLOCK * 4_000)
              .speed(speed)
              .build();
      EmbeddedEngine engine = EmbeddedEngine.open(settings, RankPools.Place.HOST, events);
      server = EngineServer.start(engine, "127.0.0.1", 0, 1);
      String where =
          engine
              .publisher()
              .map(
                  publisher ->
                      ",events=tcp://127.0.0.1:"
                          + publisher.eventsPort()
                          + ",replay=tcp://127.0.0.1:"
                          + publisher.replayPort())
              .orElse(",poll=true");
      String worker =
          "http://127.0.0.1:" + server.port() + ",flavor=" + flavor.id() + ",ranks=" + RANKS;
      gateway =
          TestGateway.of(List.of(worker + ",block_size=" + BLOCK + where))
              .router(GatewaySettings.AUTO)
              .start();
    }

    JsonNode ranks() {
      return read(gateway.admin("/kvasir/ranks").text()).get(0);
    }

    JsonNode truth() {
      try (RawClient client = RawClient.to(server.port())) {
        return read(client.send("GET /debug/blocks HTTP/1.1\r\nHost: x\r\n\r\n").reply().text());
      }
    }

    /** Changes the engine's faults. */
    void fault(JsonNode faults) {
      try (RawClient client = RawClient.to(server.port())) {
        assertThat(client.send(RawClient.post("/debug/faults", faults.toString())).reply().status())
            .isEqualTo(200);
      }
    }

    JsonNode askAdmin(String path, JsonNode body, String... fields) {
      try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
        return read(client.send(RawClient.post(path, body.toString(), fields)).reply().text());
      }
    }

    /** Waits until the index has as many blocks of each rank as the engine. */
    void awaitTruth() {
      Await.until(
          "the blocks of all ranks",
          () -> {
            JsonNode truth = truth().get("ranks");
            JsonNode known = ranks().get("ranks");
            boolean same = true;
            for (int rank = 0; rank < RANKS; rank++) {
              same &=
                  truth.get(rank).get("count").asLong() == known.get(rank).get("blocks").asLong();
            }
            return same;
          });
    }

    @Override
    public void close() {
      gateway.close();
      server.close();
    }
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (IOException e) {
      throw new AssertionError(json, e);
    }
  }

  private static ObjectNode tokens(int... ids) {
    ObjectNode body = JSON.createObjectNode().put("model", "m").put("max_tokens", MAX_TOKENS);
    ArrayNode prompt = body.putArray("prompt");
    for (int id : ids) {
      prompt.add(id);
    }
    return body;
  }

  private static int[] prompt(Random random, int blocks) {
    return random.ints((long) blocks * BLOCK + 3, 0, 256).toArray();
  }

  @Test
  void targetsAreWeighedAndARequestThatMayBeRefusedIsIfNoneCanMeetThem() throws IOException {
    try (Fleet fleet = new Fleet(EngineFlavor.VLLM, EventForm.MAP)) {
      int[] prompt = prompt(new Random(SEED), 100);
      for (String ttft : List.of("60000", "0.5")) {
        JsonNode rank =
            fleet
                .askAdmin("/kvasir/explain", tokens(prompt), "x-llm-d-slo-ttft-ms: " + ttft)
                .get("ranks")
                .get(0);
        double likelihood = rank.get("targets_likelihood").asDouble();
        assertThat(likelihood > 0.5).as("%s ms: %f", ttft, likelihood).isEqualTo(ttft.length() > 3);
      }
      String body = tokens(prompt).toString();
      String hurry = "x-llm-d-slo-ttft-ms: 0.5";
      RawClient.Reply shed =
          fleet.gateway.post("/v1/completions", body, hurry, "x-kvasir-priority: -1");
      assertThat(shed.status()).as(shed.text()).isEqualTo(429);
      assertThat(shed.code()).isEqualTo("targets_unreachable");
      assertThat(shed.field("retry-after")).isNotNull();
      assertThat(fleet.gateway.metric("kvasir_refusals_total", "targets_unreachable")).isEqualTo(1);
      assertThat(fleet.gateway.post("/v1/completions", body, hurry).status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({"VLLM, MAP", "VLLM, MIXED", "SGLANG, ARRAY", "TRTLLM, MAP", "TRTLLM, NONE"})
  void thePromptGoesWhereItsBlocksAre(EngineFlavor flavor, EventForm form) throws Exception {
    Random random = new Random(SEED);
    try (Fleet fleet = new Fleet(flavor, form)) {
      assertThat(fleet.ranks().get("router").asText()).isEqualTo("projected");
      for (int i = 0; i < 12; i++) {
        int[] prompt = prompt(random, 6 + random.nextInt(20));
        JsonNode first = complete(fleet, prompt);
        fleet.awaitTruth();
        int blocks = (prompt.length - 1) / BLOCK;
        assertThat(cached(first)).as("seed %d", SEED).isZero();

        ObjectNode query = JSON.createObjectNode().put("model", "m");
        query.set("token_ids", tokens(prompt).get("prompt"));
        JsonNode matched = fleet.askAdmin("/query", query).get("default").elements().next();
        assertThat(matched.get("longest_matched").asInt()).isEqualTo(blocks * BLOCK);
        int rank = Integer.parseInt(matched.get("DP").fieldNames().next());

        JsonNode explained = fleet.askAdmin("/kvasir/explain", tokens(prompt));
        assertThat(explained.get("tokens").get("estimated").asBoolean()).isFalse();
        assertThat(explained.get("ranks").get(rank).get("matched_tokens").asInt())
            .isEqualTo(blocks * BLOCK);
        assertThat(explained.get("choice").get("matched_tokens").asInt()).isEqualTo(blocks * BLOCK);
        JsonNode firstToken = explained.get("ranks").get(rank).get("first_token_ms");
        assertThat(firstToken.get("expected").asDouble()).isPositive();
        assertThat(firstToken.get("low").asDouble())
            .isBetween(0.0, firstToken.get("high").asDouble());
        if (flavor != EngineFlavor.TRTLLM) { // which chooses its ranks itself
          assertThat(explained.get("choice").get("dp_rank").asInt()).isEqualTo(rank);
          assertThat(cached(complete(fleet, prompt))).isEqualTo(blocks * BLOCK);
        }
      }
      Await.until("an index that equals the engine", () -> isEqual(fleet));
      JsonNode worker = fleet.ranks();
      assertThat(worker.get("problems")).isEmpty();
      if (flavor != EngineFlavor.TRTLLM) {
        long error = 0;
        for (JsonNode rank : worker.get("ranks")) {
          error += rank.get("predicted_hits").get("error_tokens").asLong();
        }
        assertThat(error).isZero();
      }
      Await.until(
          "the verdict on tokens",
          () -> fleet.ranks().get("tokens").get("verdict").asText().equals("confirmed"));
      assertThat(fleet.gateway.metric("kvasir_kv_blocks")).isPositive();
      assertThat(fleet.gateway.metric("kvasir_token_parity_contradicted")).isZero();
      assertThat(fleet.gateway.metric("kvasir_index_parity_missing_blocks")).isZero();
      assertThat(fleet.gateway.metric("kvasir_index_parity_extra_blocks")).isZero();
      assertThat(worker.get("ranks").get(0).get("index_parity").get("missing").asLong()).isZero();
    }
  }

  @Test
  void blockEventsSayWhenAPromptIsComputedWhoseAnswerDoesNotStream() throws Exception {
    try (Fleet fleet = new Fleet(EngineFlavor.VLLM, EventForm.MAP, 2);
        RawClient client = RawClient.to(fleet.gateway.gateway().port())) {
      ObjectNode body = tokens(prompt(new Random(SEED), 20)).put("max_tokens", 400);
      RawClient sent = client.send(RawClient.post("/v1/completions", body.toString()));
      Await.until(
          "a rank that has a request and no prompt to compute",
          () -> {
            boolean found = false;
            for (JsonNode rank : fleet.ranks().get("ranks")) {
              found |=
                  rank.path("load").path("active_requests").asInt() == 1
                      && rank.get("load").get("active_prefill_tokens").asInt() == 0;
            }
            return found;
          });
      assertThat(sent.reply().status()).isEqualTo(200);
    }
  }

  /** Whether the gateway itself finds its index equal to the engine's dump. */
  private static boolean isEqual(Fleet fleet) {
    JsonNode ranks = read(fleet.gateway.admin("/kvasir/parity").text()).get(0).get("ranks");
    boolean equal = ranks.size() == RANKS;
    for (JsonNode rank : ranks) {
      equal &= rank.get("missing").asLong() == 0 && rank.get("extra").asLong() == 0;
    }
    return equal;
  }

  private static JsonNode complete(Fleet fleet, int[] prompt) {
    RawClient.Reply reply = fleet.gateway.post("/v1/completions", tokens(prompt).toString());
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return read(reply.text());
  }

  private static int cached(JsonNode completion) {
    return completion.get("usage").path("prompt_tokens_details").path("cached_tokens").asInt(0);
  }

  /** Speculative decoding loses a block of each hit; some engines ignore short hits. */
  @ParameterizedTest
  @CsvSource({"16, 0, 1, 1", "0, 2048, 0, 128", "32, 1024, 2, 64"})
  void theHitsOfAnEngineThatReusesLessThanItHoldsAreLearned(
      int lostTokens, int smallestHit, int lostBlocks, int smallestBlocks) throws Exception {
    Random random = new Random(SEED);
    try (Fleet fleet = new Fleet(EngineFlavor.VLLM, EventForm.MAP)) {
      fleet.fault(
          JSON.createObjectNode()
              .put("lost_hit_tokens", lostTokens)
              .put("smallest_hit_tokens", smallestHit));
      int[][] heads = new int[8][];
      for (int i = 0; i < heads.length; i++) {
        heads[i] = prompt(random, 256);
        complete(fleet, heads[i]);
      }
      fleet.awaitTruth();
      askBehind(fleet, heads, 200, random);
      JsonNode correction = fleet.ranks().get("hit_correction");
      assertThat(correction.get("lost_blocks").asInt()).isEqualTo(lostBlocks);
      assertThat(correction.get("smallest_blocks").asInt())
          .isBetween(smallestBlocks - 16, smallestBlocks + 16);
      long[] before = hits(fleet);
      askBehind(fleet, heads, 100, random);
      long[] after = hits(fleet);
      double predicted = after[0] - before[0];
      double cached = after[1] - before[1];
      assertThat(predicted / cached).as("seed %d", SEED).isBetween(0.97, 1.03);
    }
  }

  /** Sends prompts that begin like others, each with an end of its own. */
  private static void askBehind(Fleet fleet, int[][] heads, int requests, Random random) {
    for (int i = 0; i < requests; i++) {
      int[] head = heads[random.nextInt(heads.length)];
      int[] prompt = Arrays.copyOf(head, random.nextInt(head.length) + 2 * BLOCK);
      for (int end = prompt.length - 2 * BLOCK; end < prompt.length; end++) {
        prompt[end] = random.nextInt(256);
      }
      complete(fleet, prompt);
    }
  }

  /** Tokens of predicted and of reported hits, of all ranks. */
  private static long[] hits(Fleet fleet) {
    long[] sums = new long[2];
    for (JsonNode rank : fleet.ranks().get("ranks")) {
      sums[0] += rank.get("predicted_hits").get("predicted_tokens").asLong();
      sums[1] += rank.get("predicted_hits").get("cached_tokens").asLong();
    }
    return sums;
  }

  @Test
  void textsAreMatchedByTheTokensOfTheEngine() throws Exception {
    try (Fleet fleet = new Fleet(EngineFlavor.VLLM, EventForm.MAP)) {
      String text = "A text of some length that fills several blocks of sixteen tokens. ".repeat(9);
      String chat =
          JSON.createObjectNode()
              .put("model", "m")
              .put("max_tokens", MAX_TOKENS)
              .set(
                  "messages",
                  JSON.createArrayNode()
                      .add(JSON.createObjectNode().put("role", "user").put("content", text)))
              .toString();
      assertThat(fleet.gateway.post(TestGateway.CHAT, chat).status()).isEqualTo(200);
      fleet.awaitTruth();
      JsonNode second = read(fleet.gateway.post(TestGateway.CHAT, chat).text());
      int tokens = second.get("usage").get("prompt_tokens").asInt();
      assertThat(cached(second)).isEqualTo((tokens - 1) / BLOCK * BLOCK);
    }
  }

  @Test
  void wrongQueriesAreRefused() throws Exception {
    try (Fleet fleet = new Fleet(EngineFlavor.VLLM, EventForm.MAP)) {
      assertThat(error(fleet, "/query", "[]")).contains("must be a JSON object");
      assertThat(error(fleet, "/query", "{\"model\":\"m\"")).contains("must be JSON");
      assertThat(error(fleet, "/query", "{\"model\":\"x\",\"token_ids\":[1]}"))
          .contains("model must be one");
      assertThat(error(fleet, "/query", "{\"model\":\"m\",\"token_ids\":7}"))
          .contains("token_ids must be an array");
      assertThat(error(fleet, "/query", "{\"model\":\"m\",\"token_ids\":[1,-2]}"))
          .contains("token_ids[1]");
      String many = "{\"model\":\"m\",\"token_ids\":[" + "1,".repeat(1 << 20) + "1]}";
      assertThat(error(fleet, "/query", many)).contains("at most 1048576 token ids");
      assertThat(error(fleet, "/query", "{\"model\":\"m\",\"token_ids\":[],\"block_size\":64}"))
          .contains("block_size must be 16");
      assertThat(error(fleet, "/kvasir/explain", "{\"model\":\"x\",\"prompt\":\"a\"}"))
          .contains("model must be one of");
      assertThat(error(fleet, "/kvasir/explain", "no json")).contains("error");
      assertThat(fleet.gateway.admin("/query").status()).isEqualTo(405);
    }
  }

  private static String error(Fleet fleet, String path, String body) {
    try (RawClient client = RawClient.to(fleet.gateway.gateway().adminPort())) {
      RawClient.Reply reply = client.send(RawClient.post(path, body)).reply();
      assertThat(reply.status()).isEqualTo(400);
      return reply.text();
    }
  }
}
