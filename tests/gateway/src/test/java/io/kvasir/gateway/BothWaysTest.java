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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    return open(prefill.leg(), decode.leg(), 60_000);
  }

  private static TestGateway open(String prefill, String decode, int prefillTimeoutMs) {
    return TestGateway.of(List.of(prefill, decode))
        .disagg(
            new DisaggSettings(
                DisaggSettings.DEFAULTS.style(),
                0,
                1,
                null,
                DisaggSettings.DEFAULTS.prefillRouter(),
                DisaggSettings.DEFAULTS.decodeRouter(),
                prefillTimeoutMs,
                false,
                true))
        .start();
  }

  /** What a reply says. */
  private record Answer(String text, int promptTokens, int cachedTokens) {}

  private static Answer ask(
      TestGateway gateway, List<Integer> prompt, boolean streams, String... fields) {
    return askFrom("127.0.0.1", gateway, prompt, streams, fields);
  }

  private static Answer askFrom(
      String client, TestGateway gateway, List<Integer> prompt, boolean streams, String... fields) {
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
    Reply reply;
    try (RawClient connection = RawClient.from(client, gateway.gateway().port())) {
      reply = connection.send(RawClient.post(COMPLETIONS, asked, fields)).reply();
    }
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

  @ParameterizedTest
  @CsvSource({
    "127.0.0.2, X-Session-ID: one, Accept: */*",
    "127.0.0.1, X-Session-ID: one, Authorization: Bearer other",
    "127.0.0.1, X-Session-ID: two, Accept: */*"
  })
  void anotherClientOrConversationTakesNothing(String client, String session, String field) {
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      askFrom(client, gateway, next(PROMPT, first), true, session, field);
      assertThat(received()).isZero();
    }
  }

  /** The decode worker holds that text too, so that the KV of the answer would do for it. */
  @Test
  void anotherTextTakesNothing() {
    List<Integer> other = repeated(8, 400);
    try (TestGateway gateway = open()) {
      ask(gateway, other, true);
      awaitBlocks(gateway, other.size() + ANSWER - 1);
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(
          gateway, other.size() + first.promptTokens() + 2 * ANSWER - 2 * StandInServer.BLOCK);
      ask(gateway, joined(other, repeated(9, 20)), true, SESSION);
      assertThat(received()).isZero();
    }
  }

  @Test
  void requestsWithoutAnAnswerDoNotEndTheConversation() {
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      String text = "{\"model\":\"%s\",\"prompt\":\"a\"}".formatted(StandInServer.MODEL);
      assertThat(gateway.post("/tokenize", text, SESSION).status()).isEqualTo(200);
      ask(gateway, next(PROMPT, first), true, SESSION);
      assertThat(received()).isOne();
    }
  }

  @Test
  void anAnswerThatHasExpiredIsNotAskedFor() {
    decode.close();
    decode = leg(EngineRole.DECODE, settings -> settings.answerLeaseMs(1));
    try (TestGateway gateway = open()) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      Await.until("nothing is pinned", () -> decode.transfers().path("pinned_blocks").asInt() == 0);
      ask(gateway, next(PROMPT, first), true, SESSION);
      assertThat(received()).isZero();
      assertThat(prefill.transfers().path("failed").asInt()).isZero();
    }
  }

  /** A decode worker that is stuck, or cannot be reached, costs the limit and not the request. */
  @Test
  void aPromptWhoseEarlierAnswerDoesNotComeIsComputedWhole() {
    AtomicInteger pulls = new AtomicInteger();
    RelayedLeg.Faults hang =
        new RelayedLeg.Faults() {
          @Override
          public boolean onAsked(RelayedLeg.Seen leg) {
            boolean pull = leg.request().text().contains("remote_num_tokens");
            if (pull) {
              pulls.incrementAndGet();
              Await.opened("the gateway gives the leg up", leg.gone());
            }
            return !pull;
          }

          @Override
          public byte[] onAnswered(RelayedLeg.Seen leg, byte[] bytes) {
            return bytes;
          }
        };
    RoleSettings part =
        RoleSettings.builder(EngineRole.PREFILL, KvConnector.NIXL).bothWays(true).build();
    try (RelayedLeg relayed = RelayedLeg.start(part, 1, hang);
        TestGateway gateway = open(relayed.worker(), decode.leg(), 3_000)) {
      Answer first = ask(gateway, PROMPT, true, SESSION);
      awaitBlocks(gateway, first.promptTokens() + ANSWER - 1);
      ask(gateway, next(PROMPT, first), true, SESSION);
      assertThat(pulls).hasValue(1);
      assertThat(relayed.standIn().transfers().path("received").asInt()).isZero();
    }
  }
}
