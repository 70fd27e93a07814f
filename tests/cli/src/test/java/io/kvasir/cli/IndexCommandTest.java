package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.params.provider.ValueSource;

/** Events and matches of a prefix index in JSON lines. */
class IndexCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OK = "{\"ok\":true}";
  private static final String CONFIGURE = "{'op':'configure','tokensPerBlock':2}";

  private static String event(String worker, int dpRank, long eventId, String data) {
    return "{'op':'event','worker':%s,'dpRank':%d,'eventId':%d,'data':%s}"
        .formatted(worker, dpRank, eventId, data);
  }

  /** Blocks of the tokens 10 n and 10 n + 1, with the handles n. */
  private static String stored(String parent, int... blocks) {
    List<String> all = new ArrayList<>();
    for (int n : blocks) {
      all.add("{'blockHash':%d,'tokens':[%d,%d]}".formatted(n, 10 * n, 10 * n + 1));
    }
    return "{'stored':{'parentHash':%s,'blocks':[%s]}}".formatted(parent, String.join(",", all));
  }

  private static final String MATCH = "{'op':'match','tokens':[10,11,20,21,30,31,40]}";

  private static String matched(String... ranks) {
    return "{'matches':[%s],'promptBlocks':3}".formatted(String.join(",", ranks));
  }

  private static String rank(String worker, int dpRank, int blocks) {
    return "{'worker':%s,'dpRank':%d,'blocks':%d}".formatted(worker, dpRank, blocks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"kvasir", "dynamo"})
  void matchesAreSortedByWorkerAndRank(String hash) throws IOException {
    String large = "18446744073709551615";
    List<String> answers =
        answers(
            0,
            "{'op':'configure','tokensPerBlock':2,'hash':'" + hash + "'}",
            event(large, 0, 0, stored("null", 1)),
            event("7", 1, 5, stored("null", 1, 2, 3)),
            event("7", 0, 1, stored("null", 1)),
            event("7", 0, 2, stored("1", 2)),
            MATCH,
            "{'op':'match','tokens':[20,21]}");

    assertThat(answers.subList(0, 5)).containsOnly(OK);
    assertThat(answers.get(5))
        .isEqualTo(json(matched(rank("7", 0, 2), rank("7", 1, 3), rank(large, 0, 1))));
    assertThat(answers.get(6)).isEqualTo(json("{'matches':[],'promptBlocks':1}"));
  }

  @Test
  void holesHideAndComeBackUnderAnyHandle() throws IOException {
    List<String> answers =
        answers(
            0,
            CONFIGURE,
            event("7", 0, 1, stored("null", 1, 2, 3)),
            event("7", 0, 2, "{'removed':{'blockHashes':[2]}}"),
            MATCH,
            event(
                "7",
                0,
                3,
                "{'stored':{'parentHash':1,'blocks':[{'blockHash':-9,'tokens':[20,21]}]}}"),
            MATCH,
            event("7", 0, 4, "{'removed':{'blockHashes':[18446744073709551607]}}"),
            MATCH);

    assertThat(answers.get(3)).isEqualTo(json(matched(rank("7", 0, 1))));
    assertThat(answers.get(5)).isEqualTo(json(matched(rank("7", 0, 3))));
    assertThat(answers.get(7)).isEqualTo(json(matched(rank("7", 0, 1))));
  }

  @Test
  void repeatedNumbersAreIgnoredAndJumpsHideUntilCleared() throws IOException {
    List<String> answers =
        answers(
            0,
            CONFIGURE,
            event("7", 0, 5, stored("null", 1)),
            event("7", 0, 6, stored("1", 2)),
            event("7", 0, 6, "{'removed':{'blockHashes':[1]}}"),
            MATCH,
            event("7", 0, 8, stored("2", 3)),
            MATCH,
            "{'op':'stats'}",
            event("7", 0, 9, "{'cleared':{}}"),
            event("7", 0, 10, stored("null", 1)),
            MATCH,
            "{'op':'stats'}");

    assertThat(answers.get(4)).isEqualTo(json(matched(rank("7", 0, 2))));
    assertThat(answers.get(6)).isEqualTo(json(matched()));
    JsonNode hidden = JSON.readTree(answers.get(7));
    assertThat(hidden.get("gaps").asInt()).isEqualTo(1);
    assertThat(hidden.get("hiddenRanks").asInt()).isEqualTo(1);
    assertThat(hidden.get("duplicates").asInt()).isEqualTo(1);
    assertThat(answers.get(10)).isEqualTo(json(matched(rank("7", 0, 1))));
    JsonNode shown = JSON.readTree(answers.get(11));
    assertThat(shown.get("workers").asInt()).isEqualTo(1);
    assertThat(shown.get("memberships").asInt()).isEqualTo(1);
    assertThat(shown.get("distinctBlocks").asInt()).isEqualTo(1);
    assertThat(shown.get("bytes").asLong()).isPositive();
    assertThat(shown.get("hiddenRanks").asInt()).isZero();
  }

  @Test
  void aSnapshotEndsAGap() throws IOException {
    List<String> answers =
        answers(
            2,
            CONFIGURE,
            event("7", 0, 1, stored("null", 1)),
            event("7", 0, 4, stored("2", 3)),
            "{'op':'snapshot','worker':7,'dpRank':0,'eventId':0,'data':[]}",
            "{'op':'snapshot','worker':7,'dpRank':0,'eventId':3,'data':["
                + stored("null", 1)
                + ","
                + stored("1", 2)
                + "]}",
            MATCH,
            "{'op':'snapshot','worker':8,'data':[" + stored("null", 1, 2) + "]}",
            event("8", 0, 77, stored("2", 3)),
            "{'op':'remove_worker','worker':7}",
            MATCH);

    assertThat(answers.get(3)).contains("\"error\":\"eventId must not be before");
    assertThat(answers.get(5)).isEqualTo(json(matched(rank("7", 0, 3))));
    assertThat(answers.get(9)).isEqualTo(json(matched(rank("8", 0, 3))));
  }

  @Test
  void unknownParentsAreCountedAndSkipOnlyTheirEvent() throws IOException {
    List<String> answers =
        answers(
            0,
            CONFIGURE,
            event("7", 0, 1, stored("99", 1)),
            event("7", 0, 2, stored("null", 1)),
            MATCH,
            "{'op':'stats'}");

    assertThat(answers.get(3)).isEqualTo(json(matched(rank("7", 0, 1))));
    assertThat(JSON.readTree(answers.get(4)).get("unknownParents").asInt()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'op':'what'} | op must be one of configure, event, snapshot, remove_worker, match, stats,",
        "{'op':'event','worker':-9223372036854775809} | worker must be an integer from -2^63 to",
        "{'op':'event','worker':7} | eventId is missing",
        "{'op':'event','worker':7,'eventId':1,'data':{}} | data must have one of stored, removed,",
        "{'op':'event','worker':7,'eventId':1,'data':{'gone':1}} | data.gone is unknown; allowed:",
        "{'op':'event','worker':7,'eventId':1,'data':{'removed':{}}} | data.removed.blockHashes is",
        "{'op':'event','worker':7,'eventId':1,'data':{'stored':{'blocks':[{'blockHash':1,"
            + "'tokens':[1]}]}}} | data.stored.blocks[0].tokens must be an array of 2 integers",
        "{'op':'match'} | one of tokens and sequenceHashes must be given",
        "{'op':'stats','all':true} | all is unknown",
        "{'op':'configure','tokensPerBlock':0} | tokensPerBlock must be an integer from 1 to",
        "{'op':'configure','tokensPerBlock':2,'hash':'md5'} | hash format must be one of",
        "{'op':'configure','tokensPerBlock':2,'hash':'trtllm-v1'} | format must be kvasir or dynamo",
        "{'op':'predict','action':'guess'} | action must be one of add, push, prefillDone, free,",
        "{'op':'predict','action':'push','id':3,'tokens':[1]} | id 3 is not in flight",
        "not json | not JSON",
      })
  void whatIsNotValidIsToldAndChangesNothing(String line, String error) throws IOException {
    List<String> answers = answers(2, CONFIGURE, event("7", 0, 1, stored("null", 1)), line, MATCH);

    assertThat(JSON.readTree(answers.get(2)).get("error").asText()).startsWith(error);
    assertThat(JSON.readTree(answers.get(2)).get("line").asInt()).isEqualTo(3);
    assertThat(answers.get(3)).isEqualTo(json(matched(rank("7", 0, 1))));
  }

  @Test
  void everythingNeedsAConfigureAndConfigureForgets() throws IOException {
    List<String> answers =
        answers(2, MATCH, CONFIGURE, event("7", 0, 1, stored("null", 1)), CONFIGURE, MATCH);

    assertThat(answers.get(0)).contains("this op needs a configure before it");
    assertThat(answers.get(4)).isEqualTo(json(matched()));
  }

  @Test
  void predictsLoad() throws IOException {
    List<String> answers =
        answers(
            0,
            "{'op':'configure','tokensPerBlock':2,'trackOutputBlocks':true}",
            event("7", 0, 1, stored("null", 1)),
            "{'op':'predict','action':'add','id':1,'worker':7,'tokens':[10,11,20]}",
            "{'op':'predict','action':'potential','tokens':[10,11,20,21,30]}",
            "{'op':'predict','action':'push','id':1,'tokens':[21,30]}",
            "{'op':'predict','action':'potential','tokens':[10,11,20,21,30]}",
            "{'op':'predict','action':'free','id':1}",
            "{'op':'predict','action':'free','id':1}",
            "{'op':'predict','action':'potential','tokens':[]}");

    assertThat(answers.get(2)).isEqualTo(json("{'attempt':1,'prefillTokens':1}"));
    String load =
        "{'ranks':[{'worker':7,'dpRank':0,'matchedBlocks':%d,'activeRequests':%d,"
            + "'activeBlocks':%d,'newBlocks':%d,'potentialBlocks':%d,'activePrefillTokens':%d,"
            + "'potentialPrefillTokens':%d}]}";
    assertThat(answers.get(3)).isEqualTo(json(load.formatted(1, 1, 2, 2, 4, 1, 4)));
    assertThat(answers.get(5)).isEqualTo(json(load.formatted(1, 1, 3, 1, 4, 0, 3)));
    assertThat(answers.get(7)).isEqualTo(OK);
    assertThat(answers.get(8)).isEqualTo(json(load.formatted(0, 0, 0, 0, 0, 0, 0)));
  }

  @Test
  void readsAFile(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("lines.jsonl");
    Files.writeString(file, json(CONFIGURE));

    assertThat(Outcome.of(Map.of(), "", "index", file.toString()).out()).isEqualTo(OK + "\n");
    assertThat(Outcome.of(Map.of(), "", "index", folder.toString()).exitCode()).isEqualTo(2);
  }

  private static String json(String line) {
    return line.replace('\'', '"');
  }

  /** The answers, one for each line. */
  private static List<String> answers(int exitCode, String... lines) {
    Outcome outcome = Outcome.of(Map.of(), json(String.join("\n", lines)) + "\n", "index");
    assertThat(outcome.exitCode()).as(outcome.err() + outcome.out()).isEqualTo(exitCode);
    List<String> answers = List.of(outcome.out().split("\n"));
    assertThat(answers).hasSameSizeAs(lines);
    return answers;
  }
}
