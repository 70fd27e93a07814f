package io.kvasir.cli.lines.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.route.RouteLines;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Fleet routers driven by JSON lines. */
class FleetDialectTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OK = "{\"ok\":true}";
  private static final String COST = "{'op':'configure','fleetRouter':'cost','tokensPerBlock':2}";
  private static final String RANK = "{'op':'add_rank','worker':7,'nowMs':0}";
  private static final String ROUTE = "{'op':'route','id':1,'tokens':[10,11,12]}";

  static Stream<String> policies() {
    return FleetRouterKind.all().stream().map(FleetRouterProvider::name);
  }

  @Test
  void theDocumentedSessionAnswersAsDocumented() throws IOException {
    Path page = Path.of(System.getProperty("kvasir.root"), "docs", "json-lines.md");
    List<String> lines = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith("> {")) {
        lines.add(line.substring(2));
      } else if (line.startsWith("< {")) {
        expected.add(line.substring(2));
      }
    }
    assertThat(lines).hasSize(11);
    assertThat(answers(lines.toArray(String[]::new))).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void everyPolicyTakesTheSameLines(String policy) throws IOException {
    List<String> answers =
        answers(
            "{'op':'configure','fleetRouter':'" + policy + "','tokensPerBlock':2}",
            "{'op':'add_rank','worker':7,'totalKvBlocks':100,'nowMs':0}",
            "{'op':'add_rank','worker':8,'nowMs':0}",
            "{'op':'event','worker':7,'eventId':1,'data':{'stored':{'blocks':[{'blockHash':5}]}}}",
            "{'op':'event','worker':7,'eventId':2,'data':{'removed':{'blockHashes':[5]}}}",
            "{'op':'event','worker':7,'data':{'metrics':{'activeBlocks':1,'totalBlocks':100}}}",
            "{'op':'event','worker':7,'data':{'step':{'durationMs':9.5,'prefillTokens':3}}}",
            "{'op':'route','id':1,'tokens':[10,11,12],'exclude':[{'worker':8}],'nowMs':1}",
            "{'op':'route','id':2,'prompt':'hello','conversationId':'c','nowMs':2}",
            "{'op':'route','id':3,'messages':[{'role':'user','content':'hi'}],'nowMs':3}",
            "{'op':'tokens','id':1,'count':1,'nowMs':40}",
            "{'op':'finish','id':1,'nowMs':50}",
            "{'op':'finish','id':2,'success':false,'nowMs':50}",
            "{'op':'remove_rank','worker':8,'nowMs':60}",
            "{'op':'route','id':4,'tokens':[10,11,12],'nowMs':70}");

    assertThat(answers).noneMatch(answer -> answer.contains("\"error\""));
    for (int i : List.of(7, 8, 9, 14)) {
      assertThat(JSON.readTree(answers.get(i)).get("worker").asInt()).isIn(7, 8);
    }
    assertThat(JSON.readTree(answers.get(7)).get("worker").asInt()).isEqualTo(7);
    assertThat(JSON.readTree(answers.get(14)).get("worker").asInt()).isEqualTo(7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'op':'rout','id':1}                                        | op must be one of configure
          {'op':'route','tokens':[1]}                                 | id is missing
          {'op':'route','id':1}                                       | one of tokens, prompt, messages and sequenceHashes must be given
          {'op':'route','id':1,'tokens':[1],'prompt':'x'}             | one of tokens, prompt
          {'op':'route','id':1,'tokens':[1],'ttftMs':0}               | ttftMs must be above 0
          {'op':'route','id':1,'tokens':[1],'server':'a'}             | server is unknown; allowed: allowedWorkers
          {'op':'route','id':1,'tokens':[1],'nowMs':-1}               | nowMs must be an integer from 0 to
          {'op':'tokens','id':9,'count':1}                            | id 9 is not in flight
          {'op':'tokens','id':1,'count':-1}                           | count must be an integer from 0 to 2147483647
          {'op':'tokens','id':1,'count':1,'tokens':[1]}               | count and tokens exclude each other
          {'op':'remove_rank','worker':9}                             | worker and dpRank must be those of a rank
          {'op':'event','worker':9,'data':{'cleared':{}}}             | worker and dpRank must be those of a rank
          {'op':'event','worker':7,'data':{'cleared':{}}}             | eventId is missing
          {'op':'event','worker':7,'data':{}}                         | data must have one of stored
          {'op':'event','worker':7,'data':{'step':{'durationMs':-1}}} | data.step.durationMs must be from 0 to
          {'op':'configure','fleetRouter':'best'}                     | router must be one of round_robin
          {'op':'configure','fleetRouter':'cost','tokensPerBlock':0}  | tokensPerBlock must be an integer from 1 to 65536
          {'op':'configure','fleetRouter':'cost','hash':'md5'}        | hash
          """)
  void anInvalidLineIsAnsweredAndTheNextOneIsCarriedOut(String line, String error)
      throws IOException {
    List<String> answers = answers(COST, RANK, line, ROUTE);

    assertThat(answers.get(2)).startsWith("{\"error\":").contains(error).contains("\"line\":3");
    assertThat(answers.get(3)).startsWith("{\"worker\":7,\"dpRank\":0,\"attempt\":1,");
  }

  @Test
  void operationsNeedARouter() throws IOException {
    assertThat(answers(RANK).get(0)).contains("this op needs a configure with fleetRouter");
    String servers = "{'op':'configure','router':'round_robin','servers':['a']}";
    assertThat(answers(servers, RANK).get(1)).contains("needs a configure with fleetRouter");
  }

  @Test
  void anIdInFlightIsRefused() throws IOException {
    List<String> answers = answers(COST, RANK, ROUTE, ROUTE, "{'op':'finish','id':1}", ROUTE);

    assertThat(answers.get(3)).contains("\"refused\":\"duplicate_request\"");
    assertThat(answers.get(5)).contains("\"attempt\":2");
  }

  @Test
  void requestsEndWithTheirRank() throws IOException {
    List<String> answers =
        answers(
            COST,
            RANK,
            ROUTE,
            "{'op':'remove_rank','worker':7}",
            "{'op':'tokens','id':1}",
            "{'op':'event','worker':7,'eventId':1,'data':{'cleared':{}}}",
            ROUTE);

    assertThat(answers.get(4)).contains("id 1 is not in flight");
    assertThat(answers.get(5)).contains("a rank that add_rank has added, not 7/0");
    assertThat(answers.get(6)).contains("\"refused\":\"no_endpoint\"");
  }

  @Test
  void aSilentRequestEndsAndItsNextReportHasNoEffect() throws IOException {
    List<String> answers =
        answers(
            COST,
            RANK,
            "{'op':'route','id':1,'tokens':[10,11,12],'nowMs':0}",
            "{'op':'route','id':2,'tokens':[10,11,12],'nowMs':0}",
            "{'op':'tokens','id':2,'nowMs':200000}",
            "{'op':'route','id':3,'tokens':[1],'nowMs':400000}",
            "{'op':'tokens','id':1,'count':1}",
            "{'op':'tokens','id':2,'count':1}");

    assertThat(answers.get(4)).as("alive").isEqualTo(OK);
    assertThat(answers.get(6)).contains("\"ok\":false", "the router has ended request 1");
    assertThat(answers.get(7)).isEqualTo(OK);
  }

  @Test
  void aRankBehindAGapMatchesNothingUntilItsSnapshot() throws IOException {
    String stored =
        "{'op':'event','worker':7,'eventId':%d,'data':{'stored':{%s'blocks':[{'blockHash':%d,'tokens':[%s]}]}}}";
    String explain = "{'op':'explain','id':1,'tokens':[10,11,12,13,14]}";
    List<String> answers =
        answers(
            COST,
            RANK,
            stored.formatted(1, "", 1, "10,11"),
            explain,
            stored.formatted(3, "'parentHash':1,", 2, "12,13"),
            explain,
            "{'op':'event','worker':7,'eventId':3,'data':{'snapshot':[{'blocks':"
                + "[{'blockHash':1,'tokens':[10,11]},{'blockHash':2,'tokens':[12,13]}]}]}}",
            explain,
            "{'op':'event','worker':7,'eventId':2,'data':{'snapshot':[]}}");

    assertThat(matched(answers.get(3))).isEqualTo(1);
    assertThat(matched(answers.get(5))).isZero();
    assertThat(matched(answers.get(7))).isEqualTo(2);
    assertThat(answers.get(8)).contains("\"ok\":false", "eventId is before the last");
  }

  private static int matched(String answer) throws IOException {
    JsonNode placement = JSON.readTree(answer);
    assertThat(placement.get("attempt").asInt()).as("books nothing").isZero();
    return placement.get("matchedBlocks").asInt();
  }

  @Test
  void projectedExpectsTheTimesThatItHasSeen() throws IOException {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "{'op':'configure','fleetRouter':'projected'}",
                "{'op':'add_rank','worker':1,'nowMs':0}",
                "{'op':'add_rank','worker':2,'nowMs':0}",
                explain(0)));
    for (int id = 1; id <= 200; id++) {
      int worker = 1 + id % 2;
      int nowMs = 1000 * id;
      int first = nowMs + (worker == 1 ? 50 : 200);
      lines.add(
          "{'op':'route','id':%d,'tokens':%s,'pinnedWorker':%d,'nowMs':%d}"
              .formatted(id, prompt(id), worker, nowMs));
      lines.add("{'op':'tokens','id':%d,'count':1,'nowMs':%d}".formatted(id, first));
      lines.add("{'op':'tokens','id':%d,'count':5,'nowMs':%d}".formatted(id, first + 9));
      lines.add("{'op':'finish','id':%d,'nowMs':%d}".formatted(id, first + 10));
    }
    lines.add(explain(300));
    List<String> answers = answers(lines.toArray(String[]::new));

    JsonNode before = JSON.readTree(answers.get(3));
    assertThat(expectedMs(before, 1)).isEqualTo(expectedMs(before, 0));
    JsonNode after = JSON.readTree(answers.get(answers.size() - 1));
    assertThat(expectedMs(after, 0)).isBetween(45.0, 55.0);
    assertThat(expectedMs(after, 1)).isBetween(180.0, 220.0);
    assertThat(after.get("worker").asInt()).isEqualTo(1);
  }

  private static String explain(int id) {
    return "{'op':'explain','id':%d,'tokens':%s}".formatted(id, prompt(1_000_000));
  }

  /** A prompt of its own, of 640 tokens. */
  private static String prompt(int id) {
    return "[" + (id + ",").repeat(639) + id + "]";
  }

  private static double expectedMs(JsonNode explanation, int candidate) {
    return explanation.at("/costs/" + candidate + "/firstTokenMs/expected").doubleValue();
  }

  private static List<String> answers(String... lines) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] in =
        (String.join("\n", lines).replace('\'', '"') + "\n").getBytes(StandardCharsets.UTF_8);
    try (RouteLines reader =
        new RouteLines(
            new ByteArrayInputStream(in), out, new LineLimit(LineLimit.DEFAULT_TOKENS))) {
      reader.run();
    }
    List<String> answers = List.of(out.toString(StandardCharsets.UTF_8).split("\n"));
    assertThat(answers).hasSameSizeAs(lines);
    return answers;
  }
}
