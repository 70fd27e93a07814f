package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A gateway in front of a stand-in for a hybrid model, whose index must match as the engine does.
 */
class HybridRoutingTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long SEED = Long.getLong("kvasir.test.seed", 23);
  private static final int BLOCK = 16;
  private static final BlockHasher HASHER = NativeBlockHasher.of(HashFormat.KVASIR, BLOCK);
  private static final int POOL_BLOCKS = 60;
  private static final int PROMPTS = LongRuns.cases(500, 5_000);
  private static final byte[] BLOCKS =
      "GET /debug/blocks HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Prompts that share prefixes of any length with earlier ones. */
  private static final class Prompts {
    private final Random random = new Random(SEED);
    private final int[][] known = new int[12][];

    int[] next() {
      int[] base = known[random.nextInt(known.length)];
      int length = 1 + BLOCK * random.nextInt(1, 16) + random.nextInt(BLOCK - 1);
      int[] prompt = random.ints(length, 0, 256).toArray();
      if (base != null && random.nextInt(5) > 0) {
        int kept = random.nextInt(2) == 0 ? base.length : random.nextInt(base.length);
        System.arraycopy(base, 0, prompt, 0, Math.min(kept, length));
      }
      known[random.nextInt(known.length)] = prompt;
      return prompt;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EventForm.class,
      names = {"MAP", "ARRAY"})
  void theIndexMatchesAsTheEngineDoes(EventForm form) throws IOException {
    EventSettings events =
        new EventSettings(
            EngineFlavor.VLLM,
            form,
            EventSettings.newestReplay(EngineFlavor.VLLM),
            EventSettings.numbers(EngineFlavor.VLLM),
            "127.0.0.1",
            0,
            0,
            "kv-events",
            EventSettings.NO_PORT,
            false);
    EmbeddedSettings settings =
        EmbeddedSettings.builder("m")
            .ranks(1)
            .tokensPerBlock(BLOCK)
            .poolTokens(BLOCK * POOL_BLOCKS)
            .groups(
                List.of(
                    PoolGroup.window(64), PoolGroup.states(form == EventForm.MAP ? 0 : 3 * BLOCK)))
            .speed(1e6)
            .build();
    EmbeddedEngine engine = EmbeddedEngine.open(settings, RankPools.Place.HOST, events);
    EventPublisher publisher = engine.publisher().orElseThrow();
    try (EngineServer server = EngineServer.start(engine, "127.0.0.1", 0, 1);
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        "http://127.0.0.1:%d,flavor=vllm,ranks=1,block_size=%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d"
                            .formatted(
                                server.port(),
                                BLOCK,
                                publisher.eventsPort(),
                                publisher.replayPort())))
                .router(GatewaySettings.AUTO)
                .start()) {
      play(server, gateway, form == EventForm.MAP ? PROMPTS : PROMPTS / 4);
    }
  }

  /** The prompts go to the engine itself, so that the gateway knows of them by events alone. */
  private static void play(EngineServer server, TestGateway gateway, int count) {
    Prompts prompts = new Prompts();
    int hits = 0;
    int shortened = 0;
    for (int i = 0; i < count; i++) {
      int[] prompt = prompts.next();
      JsonNode truth = read(send(server.port(), BLOCKS));
      long batch = truth.at("/ranks/0/last_batch").asLong(-1);
      Await.until("all events", () -> ranks(gateway).at("/ranks/0/last_batch").asLong() >= batch);
      int predicted = predicted(gateway, prompt);
      String reply = send(server.port(), RawClient.post("/v1/completions", body(prompt)));
      int cached = read(reply).at("/usage/prompt_tokens_details/cached_tokens").asInt(0);
      assertThat(predicted).as("prompt %d, seed %d", i, SEED).isEqualTo(cached);
      hits += cached > 0 ? 1 : 0;
      shortened += cached < held(truth, prompt) ? 1 : 0;
    }
    assertThat(hits).as("hits").isGreaterThan(count / 10);
    assertThat(shortened).as("hits that a group shortens").isGreaterThan(count / 20);
    assertThat(ranks(gateway).get("problems")).isEmpty();
    assertThat(ranks(gateway).at("/ranks/0/matches").asText()).isEqualTo("exact");
    assertThat(ranks(gateway).at("/ranks/0/copies").asLong()).isZero();
    assertThat(ranks(gateway).at("/ranks/0/skipped_events")).isEmpty();
  }

  private static JsonNode ranks(TestGateway gateway) {
    return read(gateway.admin("/kvasir/ranks").text()).get(0);
  }

  private static int predicted(TestGateway gateway, int[] prompt) {
    ObjectNode query = JSON.createObjectNode().put("model", "m");
    Arrays.stream(prompt).forEach(query.withArray("token_ids")::add);
    String answer = send(gateway.gateway().adminPort(), RawClient.post("/query", query.toString()));
    JsonNode workers = read(answer).get("default");
    return workers == null || workers.isEmpty()
        ? 0
        : workers.elements().next().get("longest_matched").asInt();
  }

  /** Tokens of the prompt that the engine holds with full attention. */
  private static int held(JsonNode truth, int[] prompt) {
    Set<String> blocks = new HashSet<>();
    truth.at("/ranks/0/blocks").forEach(block -> blocks.add(block.get("hash").asText()));
    int held = 0;
    for (long hash : HASHER.hash(prompt, CacheScope.NONE).sequence()) {
      if (!blocks.contains(Long.toUnsignedString(hash))) {
        break;
      }
      held += BLOCK;
    }
    return held;
  }

  private static String send(int port, byte[] request) {
    try (RawClient client = RawClient.to(port)) {
      RawClient.Reply reply = client.send(request).reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      return reply.text();
    }
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (IOException e) {
      throw new AssertionError(json, e);
    }
  }

  private static String body(int[] prompt) {
    ObjectNode body = JSON.createObjectNode().put("model", "m").put("max_tokens", 4);
    Arrays.stream(prompt).forEach(body.withArray("prompt")::add);
    return body.toString();
  }
}
