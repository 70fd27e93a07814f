package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Agents send tools, system blocks and results of tools: their turns match all the same. */
class AgentTokensTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long SEED = Long.getLong("kvasir.test.seed", 35);
  private static final int RANKS = 2;
  private static final int SESSIONS = 6;
  private static final int TURNS = 6;

  /** What an agent speaks. */
  enum Api {
    MESSAGES("/v1/messages"),
    RESPONSES("/v1/responses"),
    CHAT("/v1/chat/completions");

    private final String path;

    Api(String path) {
      this.path = path;
    }
  }

  /** One conversation of an agent. */
  private static final class Session {

    private final Api api;
    private final Random random;
    private final ArrayNode turns = JSON.createArrayNode();
    private final ArrayNode tools = JSON.createArrayNode();
    private final String system;
    private int requests;
    private int lastPrompt;

    Session(Api api, int number, Random random) {
      this.api = api;
      this.random = random;
      this.system = "You are agent " + number + ". " + words(80);
      for (int i = 0; i < 4; i++) {
        ObjectNode tool = tools.addObject().put("name", "tool" + i).put("type", "function");
        tool.putObject("input_schema").put("type", "object").put("description", words(20));
      }
      ask("user", words(30));
    }

    private String words(int count) {
      StringBuilder words = new StringBuilder();
      random.ints(count, 0, 1000).forEach(word -> words.append("word").append(word).append(' '));
      return words.toString();
    }

    private void ask(String role, String text) {
      turns.addObject().put("role", role).put("content", text);
    }

    ObjectNode body() {
      ObjectNode body = JSON.createObjectNode().put("model", StandInServer.MODEL);
      body.put("temperature", 0.1 * requests++).set("tools", tools);
      switch (api) {
        case MESSAGES -> {
          body.put("max_tokens", 8);
          ArrayNode blocks = body.putArray("system");
          blocks
              .addObject()
              .put("type", "text")
              .put("text", "x-anthropic-billing-header: cch=" + random.nextInt() + ";");
          blocks
              .addObject()
              .put("type", "text")
              .put("text", system)
              .putObject("cache_control")
              .put("type", "ephemeral");
          body.set("messages", turns.deepCopy());
        }
        case RESPONSES -> {
          body.put("max_output_tokens", 8).put("instructions", system).put("store", false);
          body.set("input", turns.deepCopy());
        }
        case CHAT -> {
          body.put("max_tokens", 8);
          ArrayNode messages = body.putArray("messages");
          messages.addObject().put("role", "system").put("content", system);
          messages.addAll(turns.deepCopy());
        }
      }
      return body;
    }

    /** The model calls a tool, whose result comes back. */
    void goOn(String answer) {
      String id = "call_" + random.nextInt(1 << 20);
      if (api == Api.MESSAGES) {
        ArrayNode said = turns.addObject().put("role", "assistant").putArray("content");
        said.addObject().put("type", "text").put("text", answer);
        said.addObject()
            .put("type", "tool_use")
            .put("id", id)
            .put("name", "tool1")
            .putObject("input")
            .put("path", words(3));
        turns
            .addObject()
            .put("role", "user")
            .putArray("content")
            .addObject()
            .put("type", "tool_result")
            .put("tool_use_id", id)
            .put("content", words(60));
      } else if (api == Api.RESPONSES) {
        ask("assistant", answer);
        turns
            .addObject()
            .put("type", "function_call")
            .put("call_id", id)
            .put("name", "tool1")
            .put("arguments", "{}");
        turns
            .addObject()
            .put("type", "function_call_output")
            .put("call_id", id)
            .put("output", words(60));
      } else {
        ask("assistant", answer);
        ask("user", words(60));
      }
    }
  }

  private static String answer(Api api, JsonNode reply) {
    return switch (api) {
      case MESSAGES -> reply.at("/content/0/text").asText();
      case RESPONSES -> reply.at("/output/0/content/0/text").asText();
      case CHAT -> reply.at("/choices/0/message/content").asText();
    };
  }

  /** Tokens of a prompt, and those of them that were cached. */
  private static int[] usage(JsonNode usage) {
    if (usage.has("cache_read_input_tokens")) {
      int cached = usage.get("cache_read_input_tokens").asInt();
      return new int[] {usage.get("input_tokens").asInt() + cached, cached};
    }
    if (usage.has("input_tokens")) {
      return new int[] {
        usage.get("input_tokens").asInt(), usage.at("/input_tokens_details/cached_tokens").asInt()
      };
    }
    return new int[] {
      usage.get("prompt_tokens").asInt(), usage.at("/prompt_tokens_details/cached_tokens").asInt()
    };
  }

  /** Cached tokens as a share of those of each conversation's last turn, in whole blocks. */
  private static double share(TestGateway gateway, Api api) throws IOException {
    Await.until("live ranks", () -> isLive(gateway));
    Random random = new Random(SEED);
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      sessions.add(new Session(api, i, random));
    }
    long cached = 0;
    long possible = 0;
    for (int turn = 0; turn < TURNS; turn++) {
      for (Session session : sessions) {
        RawClient.Reply reply = gateway.post(api.path, session.body().toString());
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        JsonNode json = reply.json();
        int[] usage = usage(json.get("usage"));
        int whole = session.lastPrompt - session.lastPrompt % StandInServer.BLOCK;
        cached += Math.min(usage[1], whole);
        possible += whole;
        session.lastPrompt = usage[0];
        session.goOn(answer(api, json));
      }
    }
    return (double) cached / possible;
  }

  private static boolean isLive(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).findValuesAsText("state").stream()
          .allMatch("live"::equals);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Predicted hits by those that were, of requests whose ranks are known. */
  private static double predicted(TestGateway gateway) throws IOException {
    long predicted = 0;
    long cached = 0;
    for (JsonNode worker : JSON.readTree(gateway.admin("/kvasir/ranks").text())) {
      for (JsonNode rank : worker.get("ranks")) {
        predicted += rank.get("predicted_hits").get("predicted_tokens").asLong();
        cached += rank.get("predicted_hits").get("cached_tokens").asLong();
      }
    }
    return (double) predicted / cached;
  }

  @ParameterizedTest
  @EnumSource(Api.class)
  void turnsMatchByTheEnginesOwnRenderer(Api api) throws IOException {
    try (StandInServer one = StandInServer.rendering(RANKS);
        StandInServer other = StandInServer.rendering(RANKS);
        TestGateway gateway =
            TestGateway.of(List.of(one.worker(), other.worker())).router("cost").start()) {
      assertThat(share(gateway, api)).as("seed %d", SEED).isGreaterThan(0.98);
      if (api != Api.RESPONSES) { // for which vLLM chooses the rank
        assertThat(predicted(gateway)).isBetween(0.98, 1.02);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Api.class)
  void turnsMatchByARendererOfItsOwn(Api api) throws IOException {
    try (StandInServer one = StandInServer.start(EngineFlavor.VLLM, RANKS);
        StandInServer other = StandInServer.start(EngineFlavor.VLLM, RANKS);
        StandInServer renderer = StandInServer.rendering(1);
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        one.worker() + ",renderer=" + renderer.url(),
                        other.worker() + ",renderer=" + renderer.url()))
                .router("cost")
                .start()) {
      assertThat(share(gateway, api)).as("seed %d", SEED).isGreaterThan(0.98);
      if (api != Api.RESPONSES) { // for which vLLM chooses the rank
        assertThat(predicted(gateway)).isBetween(0.98, 1.02);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Api.class)
  void turnsMatchByTokensThatTheGatewayMakes(Api api) throws IOException {
    try (StandInServer one = StandInServer.start(EngineFlavor.VLLM, RANKS);
        StandInServer other = StandInServer.start(EngineFlavor.VLLM, RANKS);
        StandInServer renderer = StandInServer.rendering(1);
        TestGateway gateway =
            TestGateway.of(List.of(one.worker(), other.worker()))
                .router("cost")
                .tokens(StandInServer.MODEL, new BorrowedTokens(renderer, api.path))
                .start()) {
      assertThat(share(gateway, api)).as("seed %d", SEED).isGreaterThan(0.98);
    }
  }

  /** A renderer that is gone costs the tokens of its requests, not their answers. */
  @Test
  void withoutItsRendererAWorkerIsAskedItself() throws IOException {
    try (StandInServer one = StandInServer.rendering(RANKS);
        TestGateway gateway =
            TestGateway.of(List.of(one.worker() + ",renderer=http://127.0.0.1:1"))
                .router("cost")
                .start()) {
      assertThat(share(gateway, Api.MESSAGES)).as("seed %d", SEED).isGreaterThan(0.98);
    }
  }
}
