package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** NIXL both ways: the prefill worker of the next turn takes the KV of the answer before. */
class BothWaysTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String COMPLETIONS = "/v1/completions";
  private static final String SESSION = "X-Session-ID: one";
  private static final List<Integer> PROMPT = repeated(7, 240);
  private static final int FIRST_WORD = 256;
  private static final int ANSWER = 100;

  private StandInServer prefill = leg(EngineRole.PREFILL, settings -> settings);
  private StandInServer decode = leg(EngineRole.DECODE, settings -> settings);

  private static StandInServer leg(EngineRole role, UnaryOperator<RoleSettings.Builder> with) {
    RoleSettings.Builder settings = RoleSettings.builder(role, KvConnector.NIXL).bothWays(true);
    return StandInServer.leg(with.apply(settings).build(), 1);
  }

  @AfterEach
  void close() {
    prefill.close();
    decode.close();
  }

  private static List<Integer> repeated(int token, int count) {
    return Collections.nCopies(count, token);
  }

  private static List<Integer> joined(List<Integer> first, List<Integer> second) {
    List<Integer> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  /** The tokens of an answer, whose words have one each. */
  private List<Integer> tokens(String answer) {
    String ids =
        IntStream.range(FIRST_WORD, 8 * FIRST_WORD)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(","));
    JsonNode words = prefill.ask("/detokenize", "{\"tokens\":[" + ids + "]}");
    List<String> all = List.of(words.path("prompt").asText().trim().split(" ", -1));
    return Stream.of(answer.trim().split(" ", -1))
        .map(word -> FIRST_WORD + all.indexOf(word))
        .toList();
  }

  private TestGateway open() {
    return TestGateway.of(List.of(prefill.leg(), decode.leg()))
        .disagg(
            new DisaggSettings(
                DisaggSettings.DEFAULTS.style(),
                0,
                1,
                null,
                DisaggSettings.DEFAULTS.prefillRouter(),
                DisaggSettings.DEFAULTS.decodeRouter(),
                60_000,
                false))
        .start();
  }

  /** What a reply says. */
  private record Answer(String text, int promptTokens, int cachedTokens) {}

  private static Answer ask(
      TestGateway gateway, List<Integer> prompt, boolean streams, String... fields) {
    String body =
        JSON.createObjectNode()
            .put("model", StandInServer.MODEL)
            .put("max_tokens", ANSWER)
            .put("ignore_eos", true)
            .put("stream", streams)
            .<ObjectNode>set("prompt", JSON.valueToTree(prompt))
            .toString();
    String asked =
        streams
            ? body.replace("}", ",\"stream_options\":{\"include_usage\":true}}")
            : body.replace("\"stream\":false", "\"n\":1");
    Reply reply = gateway.post(COMPLETIONS, asked, fields);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.text()).doesNotContain("kv_transfer_params").doesNotContain("\"error\"");
    StringBuilder text = new StringBuilder();
    JsonNode usage = JSON.missingNode();
    for (String line : reply.text().split("\n", -1)) {
      String json = line.startsWith("data: ") ? line.substring(6) : line;
      if (json.startsWith("{")) {
        JsonNode each = read(json);
        text.append(each.at("/choices/0/text").asText());
        usage = each.path("usage").isObject() ? each.path("usage") : usage;
      }
    }
    return new Answer(
        text.toString(),
        usage.path("prompt_tokens").asInt(),
        usage.at("/prompt_tokens_details/cached_tokens").asInt());
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (IOException e) {
      throw new AssertionError(json, e);
    }
  }

  /** Waits until the gateway has the events of all blocks that the decode worker holds. */
  private static void awaitBlocks(TestGateway gateway, int tokens) {
    FollowedRanks followed =
        Objects.requireNonNull(
            Objects.requireNonNull(gateway.gateway().fleets().fleet(StandInServer.MODEL))
                .followed());
    Await.until(
        "the blocks of the answer are known",
        () -> followed.index().stats().memberships() >= tokens / StandInServer.BLOCK);
  }

  /** The prompt that goes on from an answer. */
  private List<Integer> next(List<Integer> prompt, Answer answer) {
    List<Integer> said = tokens(answer.text());
    assertThat(said).hasSize(ANSWER);
    return joined(joined(prompt, said), repeated(9, 20));
  }

  private int received() {
    return prefill.transfers().path("received").asInt();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theNextTurnHasTheAnswerInItsCache(boolean streams) {
    try (TestGateway gateway = open()) {
      List<Integer> prompt = PROMPT;
      for (int turn = 0; turn < 3; turn++) {
        Answer answer = ask(gateway, prompt, streams, SESSION);
        int held = answer.promptTokens() + ANSWER - 1;
        assertThat(received()).isEqualTo(turn);
        if (turn > 0) {
          int before = answer.promptTokens() - 20 - 1; // the last token had no KV
          assertThat(answer.cachedTokens())
              .isEqualTo(before / StandInServer.BLOCK * StandInServer.BLOCK);
        }
        awaitBlocks(gateway, held);
        prompt = next(prompt, answer);
      }
    }
  }

  @Test
  void requestsWithoutAConversationTakeNothing() {
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      ask(gateway, next(PROMPT, first), true);
      assertThat(received()).isZero();
    }
  }

  /** The engine would take the KV of the second answer for that of the first one. */
  @Test
  void aConversationThatBranchesTakesNothing() {
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      ask(gateway, PROMPT, true, SESSION); // another answer to the same prompt
      ask(gateway, next(PROMPT, first), true, SESSION);
      assertThat(received()).isZero();
    }
  }

  @Test
  void anAnswerThatHasExpiredIsComputedAgain() {
    decode.close();
    decode = leg(EngineRole.DECODE, settings -> settings.answerLeaseMs(1));
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      Await.until("nothing is pinned", () -> decode.transfers().path("pinned_blocks").asInt() == 0);
      ask(gateway, next(PROMPT, first), true, SESSION);
      assertThat(received()).isZero();
      assertThat(prefill.transfers().path("failed").asInt()).isPositive();
    }
  }
}
