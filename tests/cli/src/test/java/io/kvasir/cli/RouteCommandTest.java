package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Routers asked from JSON lines. */
class RouteCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String KV_CACHE_AWARE =
      "{\"op\":\"configure\",\"router\":\"kv_cache_aware\",\"ranks\":2,\"maxActiveRequests\":10,"
          + "\"attention_dp_config\":{\"kv_cache_routing_load_balance_weight\":0.5}}";

  private static final String KV1 =
      "{\"op\":\"route\",\"states\":[{\"rank\":0},{\"rank\":1}],"
          + "\"requests\":[{\"id\":1,\"inputLength\":100}],\"matches\":[{},{\"1\":50}]}";

  @Test
  void decisionsSayWhoGoesWhereAndWhy() throws IOException {
    List<JsonNode> answers = answers(0, KV_CACHE_AWARE, KV1);

    assertThat(answers.get(0).toString()).isEqualTo("{\"ok\":true}");
    assertThat(answers.get(1).toString())
        .isEqualTo(
            "{\"assigned\":{\"0\":[],\"1\":[1]},\"expectedActiveRequests\":2,\"unassigned\":[],"
                + "\"activeTokensAfter\":[0,50],\"decisions\":[{\"id\":1,\"rank\":1,"
                + "\"reason\":\"affinity\",\"matchedTokens\":50,\"affinityActive\":true,"
                + "\"maxMatch\":50,\"scores\":{\"0\":100.0,\"1\":50.0}}]}");
  }

  private static final String PROJECTED =
      "{\"op\":\"configure\",\"router\":\"projected\",\"ranks\":2,\"maxActiveRequests\":10,"
          + "\"tokensPerBlock\":10,\"capacityPolicy\":\"max_utilization\"}";

  @Test
  void projectedSaysWhatItsScoresAreTheSumsOf() throws IOException {
    JsonNode decision =
        answers(
                0,
                PROJECTED,
                "{\"op\":\"route\",\"states\":[{},{\"activeRequests\":2,\"prefillRequests\":1,"
                    + "\"prefillTokens\":3,\"attendedPairs\":4.5,\"decodingRequests\":1,"
                    + "\"decodeKvTokens\":1048576}],\"requests\":[{\"id\":1,\"inputLength\":100}],"
                    + "\"matches\":[{},{\"1\":40}]}")
            .get(1)
            .at("/decisions/0");

    assertThat(decision.get("scores")).hasSize(2);
    for (String rank : List.of("0", "1")) {
      List<String> names = new ArrayList<>();
      double sum = 0;
      for (Map.Entry<String, JsonNode> term : decision.at("/terms/" + rank).properties()) {
        names.add(term.getKey());
        sum += term.getValue().doubleValue();
      }
      assertThat(names)
          .containsExactly("queue", "compute", "lockstep", "others", "eviction", "work");
      assertThat(decision.at("/scores/" + rank).doubleValue()).isEqualTo(sum);
    }
    assertThat(decision.at("/terms/0/queue").doubleValue()).as("nothing in line").isZero();
    assertThat(decision.at("/terms/1/queue").doubleValue())
        .as("one step of three tokens and 4.5 pairs")
        .isEqualTo(2 * 4.209989e-7 * 4.5 + 1.518344e-2 * 3 + 16.50142);
    assertThat(decision.at("/terms/1/compute").doubleValue())
        .as("what rank 1 holds need not be computed")
        .isLessThan(decision.at("/terms/0/compute").doubleValue());
    assertThat(decision.at("/terms/1/lockstep").doubleValue())
        .as("half of a decode step")
        .isEqualTo(0.5 * (-25.74 + 54.01 + 5.74), within(1e-9));
  }

  @Test
  void whatNoPoolCanHoldWhileOthersRunComesBackUnassigned() throws IOException {
    String full = "{\"activeRequests\":1,\"freeBlocks\":4,\"activeBlocks\":10,\"tick\":7}";
    String route =
        "{\"op\":\"route\",\"states\":["
            + full
            + ","
            + full
            + "],\"requests\":[{\"id\":1,\"inputLength\":50},{\"id\":2,\"inputLength\":40}]}";
    List<JsonNode> answers =
        answers(0, PROJECTED, route, route.replace("\"activeRequests\":1,", ""));

    assertThat(answers.get(1).get("unassigned").toString()).isEqualTo("[1]");
    assertThat(answers.get(1).get("decisions")).hasSize(1);
    assertThat(answers.get(2).get("unassigned").toString()).as("nothing runs").isEqualTo("[]");
  }

  @Test
  void theOldestOfAllPoolsBlocksGoFirst() throws IOException {
    String pools = "{\"cachedBlocks\":20,\"oldestEvictableTick\":%d,\"tick\":%d}";
    String route =
        "{\"op\":\"route\",\"states\":[%s,%s],\"requests\":[{\"id\":%d,\"inputLength\":40}]}";
    for (int id = 1; id <= 8; id++) {
      List<JsonNode> answers =
          answers(
              0,
              PROJECTED,
              route.formatted(pools.formatted(5, 5), pools.formatted(5, 5), 99),
              route.formatted(pools.formatted(9, 9), pools.formatted(5, 9), id));
      assertThat(answers.get(2).at("/assigned/1/0").asInt()).isEqualTo(id);
      assertThat(answers.get(2).at("/decisions/0/terms/0/eviction").doubleValue()).isPositive();
      assertThat(answers.get(2).at("/decisions/0/terms/1/eviction").doubleValue()).isZero();
    }
  }

  @Test
  void aWrongLineIsAnsweredInItsPlaceAndChangesNothing() throws IOException {
    List<JsonNode> answers =
        answers(
            2,
            KV_CACHE_AWARE,
            "{\"op\":\"route\",\"requests\":[{\"id\":1,\"inputLenght\":5}]}",
            "",
            "{\"op\":",
            "{\"op\":\"configure\",\"router\":\"best\",\"ranks\":2}",
            KV1);

    assertThat(answers).hasSize(6);
    assertThat(answers.get(1).get("error").asText())
        .startsWith("requests[0].inputLenght is unknown; allowed: children, conversationId,");
    assertThat(answers.get(1).get("line").asInt()).isEqualTo(2);
    assertThat(answers.get(2).has("error")).isTrue();
    assertThat(answers.get(3).get("error").asText()).startsWith("not JSON");
    assertThat(answers.get(4).get("error").asText())
        .isEqualTo(
            "router must be one of default, kv_cache_aware, conversation, projected, not 'best'");
    assertThat(answers.get(5).at("/assigned/1/0").asInt()).as("still configured").isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"op\":\"fly\"} | op must be one of configure, route, pop, next, finish, add_server,"
            + " remove_server, events, prepare, not \"fly\"",
        "{\"op\":\"next\",\"id\":1} | this op needs a configure with servers before it",
        "{\"op\":\"route\",\"states\":[{}],\"requests\":[]} | states must have one entry for each"
            + " of 2 ranks, not 1",
        "{\"op\":\"route\",\"requests\":[{\"id\":\"a\"}]} | requests[0].id must be an integer from"
            + " -9223372036854775808 to 9223372036854775807, not \"a\"",
        "{\"op\":\"route\",\"requests\":[{\"inputLength\":1}]} | requests[0].id is missing",
        "{\"op\":\"route\",\"requests\":[{\"id\":1,\"targetRank\":2}]} | request 1: targetRank must be within 0"
            + " to 1, not 2",
        "{\"op\":\"route\",\"states\":[{\"attendedPairs\":-0.5},{}],\"requests\":[]} |"
            + " states[0].attendedPairs must be finite and at least 0, not -0.5",
        "{\"op\":\"configure\",\"router\":\"default\",\"ranks\":0} | ranks must be an integer from 1"
            + " to 4096, not 0",
        "{\"op\":\"configure\",\"router\":\"default\",\"ranks\":1,\"attention_dp_config\":"
            + "{\"timeout\":1}} | attention_dp_config.timeout",
        "[1] | a line must be an object",
      })
  void errorsNameTheFieldAndWhatIsAllowed(String line, String error) throws IOException {
    String answer = answers(2, KV_CACHE_AWARE, line).get(1).get("error").asText();

    if (error.startsWith("attention_dp_config.")) {
      assertThat(answer).contains("timeout");
    } else {
      assertThat(answer).isEqualTo(error);
    }
  }

  @Test
  void queuesAreAskedWithoutARouter() throws IOException {
    List<JsonNode> answers =
        answers(
            0,
            "{\"op\":\"pop\",\"maxCount\":2,\"maxActiveRequests\":1,\"activeRequests\":[1,0],"
                + "\"queue\":[{\"id\":0,\"targetRank\":0,\"relax\":false},{\"id\":1},{\"id\":2},"
                + "{\"id\":3}]}",
            "{\"op\":\"pop\",\"maxCount\":1,\"policy\":\"priority\",\"queue\":"
                + "[{\"id\":1,\"priority\":0.1},{\"id\":2,\"priority\":0.9}]}");

    assertThat(answers.get(0).toString()).isEqualTo("{\"popped\":[1,2],\"queue\":[0,3]}");
    assertThat(answers.get(1).toString()).isEqualTo("{\"popped\":[2],\"queue\":[1]}");
  }

  @Test
  void serversAreChosenToo() throws IOException {
    List<JsonNode> answers =
        answers(
            0,
            "{\"op\":\"configure\",\"router\":\"conversation\",\"servers\":[\"s1\",\"s2\"]}",
            "{\"op\":\"next\",\"id\":1,\"prompt\":\"hello\",\"conversationId\":\"A\"}",
            "{\"op\":\"finish\",\"id\":1,\"success\":true}",
            "{\"op\":\"next\",\"id\":1,\"prompt\":\"hello\",\"conversationId\":\"A\"}",
            "{\"op\":\"next\",\"id\":3,\"prompt\":\"hi\",\"conversationId\":\"B\","
                + "\"subagentAffinityId\":\"A\"}",
            "{\"op\":\"remove_server\",\"server\":\"s1\"}",
            "{\"op\":\"next\",\"id\":2,\"prompt\":\"hello\",\"conversationId\":\"A\"}");

    assertThat(answers.get(1).get("server").asText()).isEqualTo("s1");
    assertThat(answers.get(1).at("/info/firstTurn").asBoolean()).isTrue();
    assertThat(answers.get(3).get("server").asText()).isEqualTo("s1");
    assertThat(answers.get(3).at("/info/reason").asText()).isEqualTo("sticky");
    assertThat(answers.get(4).get("server").asText()).as("with its parent").isEqualTo("s1");
    assertThat(answers.get(4).at("/info/conversationId").asText()).isEqualTo("B");
    assertThat(answers.get(6).get("server").asText()).isEqualTo("s2");
  }

  @Test
  void subagentsGoToTheRankOfTheirParent() throws IOException {
    String batch =
        "{\"op\":\"route\",\"requests\":[{\"id\":1,\"conversationId\":\"a\"},"
            + "{\"id\":2,\"conversationId\":\"b\"},"
            + "{\"id\":3,\"conversationId\":\"c\",\"subagentAffinityId\":\"b\"}]}";
    List<JsonNode> answers =
        answers(0, KV_CACHE_AWARE.replace("kv_cache_aware", "conversation"), batch);

    assertThat(answers.get(1).get("assigned").toString()).isEqualTo("{\"0\":[1],\"1\":[2,3]}");
  }

  private static final String AWARE =
      "{\"op\":\"configure\",\"router\":\"kv_cache_aware\",\"servers\":[\"s1\"],"
          + "\"args\":{\"tokens_per_block\":4}}";
  private static final String FINISH = "{\"op\":\"finish\",\"id\":1}";

  private static String next(String fields) {
    return "{\"op\":\"next\",\"id\":1,\"prompt\":\"a long prompt\"" + fields + "}";
  }

  @Test
  void scopesAndTokensOfARequestDecideWhatItMatches() throws IOException {
    List<String> lines = new ArrayList<>(List.of(AWARE));
    List<String> kinds =
        List.of("", ",\"salt\":\"t\"", ",\"loraTaskId\":7", ",\"promptTokenIds\":[1,2,3,4,5]");
    for (String kind : kinds) {
      lines.addAll(List.of(next(kind), FINISH, next(kind), FINISH));
    }
    List<JsonNode> answers = answers(0, lines.toArray(new String[0]));

    for (int kind = 0; kind < kinds.size(); kind++) {
      long expected = kind < 3 ? 12 : 4;
      assertThat(answers.get(4 * kind + 1).at("/info/matchLength").asLong()).isZero();
      assertThat(answers.get(4 * kind + 3).at("/info/matchLength").asLong()).isEqualTo(expected);
    }
  }

  @Test
  void aServerThatCannotBeFollowedIsNamed() throws IOException {
    String prepare =
        "{\"op\":\"prepare\",\"server\":\"s1\",\"tokensPerBlock\":%d,\"hashAlgo\":\"%s\"}";
    List<JsonNode> answers =
        answers(
            2,
            AWARE,
            prepare.formatted(4, "v1_block_key"),
            prepare.formatted(6, "v1_block_key"),
            prepare.formatted(4, "md5"),
            prepare.formatted(0, "auto"),
            prepare.formatted(4, "auto").replace("s1", "s9"));

    assertThat(answers.get(1).toString()).isEqualTo("{\"ok\":true}");
    assertThat(answers.get(2).get("error").asText())
        .isEqualTo(
            "s1 cannot be prepared: tokens_per_block must divide, or be divided by, 4, not 6");
    assertThat(answers.get(3).get("error").asText())
        .startsWith("s1 cannot be prepared: block hash");
    assertThat(answers.get(4).get("error").asText()).startsWith("tokensPerBlock must be");
    assertThat(answers.get(5).get("error").asText()).isEqualTo("server s9 is unknown");
  }

  @Test
  void aFinishThatIsNotValidEndsNothing() throws IOException {
    List<JsonNode> answers =
        answers(2, AWARE, next(""), "{\"op\":\"finish\",\"id\":1,\"success\":\"yes\"}", next(""));

    assertThat(answers.get(2).get("error").asText())
        .isEqualTo("success must be true or false, not \"yes\"");
    assertThat(answers.get(3).get("error").asText()).isEqualTo("id 1 is in flight");
  }

  @Test
  void operationsMayComeFromAFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("ops.jsonl"), KV_CACHE_AWARE + "\n" + KV1);

    assertThat(run("", "route", file.toString()).exitCode()).isZero();
    assertThat(run("", "route", "no/such.jsonl").err())
        .isEqualTo("FILE must be a file, not 'no/such.jsonl'\n");
  }

  /** One answer for each line; an exit code of -1 stands for any. */
  static List<JsonNode> answers(int exitCode, String... lines) throws IOException {
    Outcome outcome = run(String.join("\n", lines) + "\n", "route");
    if (exitCode >= 0) {
      assertThat(outcome.exitCode()).as(outcome.err() + outcome.out()).isEqualTo(exitCode);
    }
    List<JsonNode> answers = new ArrayList<>();
    for (String answer : outcome.out().split("\n", -1)) {
      if (!answer.isEmpty()) {
        answers.add(JSON.readTree(answer));
      }
    }
    assertThat(answers).hasSameSizeAs(lines);
    return answers;
  }

  private static Outcome run(String in, String... arguments) {
    return Outcome.of(Map.of(), in, arguments);
  }
}
